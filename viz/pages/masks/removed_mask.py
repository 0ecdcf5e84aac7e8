"""What happens where a mask is removed: attention that leaks, and the loss on the next word."""

from __future__ import annotations

import streamlit as st

from transformer import AttentionTrace, Kind, Translator
from transformer.analysis.batch import TraceBatch
from transformer.analysis.leaks import Leak, leak
from viz.app.explanations import code_line, explain
from viz.app.memory import memo_per_trace
from viz.pages.masks.charts import loss_chart, share_chart

SAME = 0.0005
"""Nats; a smaller change is none that the page would print."""

HIDDEN: dict[Kind, str] = {
    "encoder_self": "padding",
    "decoder_self": "what comes later",
    "cross": "padding",
}
_MEANING: dict[Kind, str] = {
    "encoder_self": "Padding has no meaning, but it has an embedding and a position, and a "
    "softmax gives weight to whatever it may see: without its mask, what a sentence means would "
    "depend on the other sentences of its batch.",
    "decoder_self": "A model that may peek while it is trained learns to copy: the shift has put "
    "the next word one position ahead of where it is asked for, so the loss falls towards 0, and "
    "nothing has been learnt for the day when there is no next word yet.",
    "cross": "The encoder's output at padding is a vector like any other: without its mask, a "
    "translation would depend on the other sentences of its batch.",
}


def leaks_with_and_without(
    translator: Translator, traces: list[AttentionTrace], batch: TraceBatch, kind: Kind
) -> tuple[Leak, Leak]:
    """The model with the mask of this kind, and without it."""
    texts = tuple((trace.source, trace.target) for trace in traces)

    def one(masked: bool) -> Leak:
        return memo_per_trace(
            traces[0],
            ("leak", texts, kind, masked),
            lambda: leak(translator.model, batch, kind, masked=masked),
        )

    return one(True), one(False)


def draw_shares(unmasked: Leak, kind: Kind) -> None:
    """How much of each head's attention leaks."""
    st.subheader(f"Attention that goes to {HIDDEN[kind]}, without the mask", anchor=False)
    st.altair_chart(
        share_chart(unmasked.to_hidden, unmasked.to_padding),
        alt=f"The share of each head's attention that goes to {HIDDEN[kind]}.",
    )


def draw_losses(batch: TraceBatch, masked: Leak, unmasked: Leak, sentence: int) -> None:
    """The loss on each next token of one sentence, counted from 0, with the mask and without it."""
    st.subheader(
        f"Loss on each next token of sentence {sentence + 1}: "
        f"{masked.mean_losses[sentence]:.3f} nats with the mask, "
        f"{unmasked.mean_losses[sentence]:.3f} without it",
        anchor=False,
    )
    st.altair_chart(
        loss_chart(batch.target_tokens[sentence], masked.loss[sentence], unmasked.loss[sentence]),
        alt="The loss on each next word, with the mask and without it.",
    )


def explain_leak(masked: Leak, unmasked: Leak, kind: Kind) -> None:
    """The numbers of the whole batch, and what they mean."""
    with st.container(key="mask-numbers", horizontal=True, gap="medium"):
        st.metric("Loss with the mask", f"{masked.mean_loss:.3f} nats", width="content")
        st.metric("Loss without it", f"{unmasked.mean_loss:.3f} nats", width="content")
        st.metric(
            f"Attention to {HIDDEN[kind]}",
            f"{unmasked.to_hidden.mean():.1%}",
            help=f"Mean over all heads without the mask; {unmasked.to_padding.mean():.1%} goes to "
            f"padding. With the mask it is {masked.to_hidden.max():.4f} in every head.",
            width="content",
        )
    explain(
        f"{measured(masked, unmasked, kind)} {_MEANING[kind]} The mask of this kind is made True "
        "everywhere in all layers; the others stay. The loss is −log p of the next piece in nats. "
        "Shares are means over real queries and losses over real pieces of the whole batch: what "
        f"padding looks at and writes is in neither (§3.2.3). {code_line(leak)}."
    )


def measured(masked: Leak, unmasked: Leak, kind: Kind) -> str:
    """What removing the mask did to the loss, in the words that its sign asks for."""
    if not unmasked.to_hidden.any():
        reason = "has one position" if kind == "decoder_self" else "is padded"
        every = "Every" if kind == "decoder_self" else "No"
        return (
            f"{every} sentence of this batch {reason}, so this mask hides nothing: add one of "
            "another length."
        )
    change = unmasked.mean_loss - masked.mean_loss
    if abs(change) < SAME:
        return "Without the mask the loss stays what it is."
    if change > 0:
        return (
            f"Without the mask the loss **rises** by {change:.3f} nats: this model was trained "
            f"with the mask, so it never learnt what to do with {HIDDEN[kind]}, and what leaks "
            "in disturbs it."
        )
    return (
        f"Without the mask the loss **falls** by {-change:.3f} nats: the model uses what leaks "
        f"from {HIDDEN[kind]}, although it was trained without it."
    )
