"""The effect of removing a mask: leaking attention, and the loss on the next token."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer import AttentionTrace, Kind, Translator
from transformer.analysis.batch import TraceBatch
from transformer.analysis.paper.leaks import Leak, leak
from viz.app.cache.cached_results import trace_identity
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import code_line, explain
from viz.draw.formatting import format_number, listing
from viz.draw.labels import capitalised
from viz.pages.masks.charts import loss_chart, share_chart

SAME, SMALL = 0.0005, 0.05
"""Changes in nats: one below `SAME` is not printed, one below `SMALL` changes the probability of a
piece by less than a twentieth."""

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
    """Run the model with the mask of this kind, and without it."""
    identities = tuple(map(trace_identity, traces))

    def run(masked: bool) -> Leak:
        return memo_per_trace(
            traces[0],
            ("leak", identities, kind, masked),
            lambda: leak(translator.model, batch, kind, masked=masked),
        )

    return run(True), run(False)


def draw_shares(unmasked: Leak, kind: Kind) -> None:
    """Draw the share of each head's attention that leaks."""
    st.subheader(f"Attention that goes to {HIDDEN[kind]}, without the mask", anchor=False)
    altair_chart(
        share_chart(unmasked.to_hidden, unmasked.to_padding),
        alt=f"The share of each head's attention that goes to {HIDDEN[kind]}.",
    )


def draw_losses(batch: TraceBatch, masked: Leak, unmasked: Leak, kind: Kind, sentence: int) -> None:
    """Draw the loss on each next token of one sentence, from 0, with and without the mask."""
    st.subheader(
        f"Loss on each next token of sentence {sentence + 1}: "
        f"{masked.mean_losses[sentence]:.3f} nats with the mask, "
        f"{unmasked.mean_losses[sentence]:.3f} without it",
        anchor=False,
    )
    altair_chart(
        loss_chart(batch.target_tokens[sentence], masked.loss[sentence], unmasked.loss[sentence]),
        alt="The loss on each next word, with the mask and without it.",
    )
    if not unmasked.hides[sentence]:
        hidden = "later token" if kind == "decoder_self" else "padding"
        st.text(f"This sentence has no {hidden}: nothing can leak into it.")


def explain_leak(masked: Leak, unmasked: Leak, kind: Kind) -> None:
    """Draw the figures of the whole batch, and explain them."""
    with st.container(horizontal=True, gap="medium"):
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
        f"{describe_change(masked, unmasked, kind)} {_MEANING[kind]} The mask of this kind is made "
        "True everywhere in all layers; the others stay. The loss is −log p of the next piece in "
        "nats. Shares are means over real queries and losses over real pieces of the whole batch: "
        f"what padding looks at and writes is in neither (§3.2.3). {code_line(leak)}."
    )


def describe_change(masked: Leak, unmasked: Leak, kind: Kind) -> str:
    """Describe the change of the loss without the mask, where the mask hid something.

    A change counts where the mean over the pieces is more than two standard errors from 0.
    """
    hides = unmasked.hides
    if not hides.any():
        reason = "has one position" if kind == "decoder_self" else "is padded"
        every = "Every" if kind == "decoder_self" else "No"
        return (
            f"{every} sentence of this batch {reason}, so this mask hides nothing, nothing can "
            "leak, and the loss is the same: add one of another length."
        )
    with_mask, without_mask = (float(np.nanmean(leak.loss[hides])) for leak in (masked, unmasked))
    padded = "the padded one" if hides.sum() == 1 else "the padded ones"
    subset = "" if hides.all() else f"in {_sentences(hides)}, {padded}, "
    numbers = f"{subset}from {with_mask:.3f} to {without_mask:.3f} nats"
    change, error, pieces = _change(masked, unmasked)
    others = "" if hides.all() else f" {_unchanged(masked, unmasked)}"
    if abs(change) < SAME:
        return f"Without the mask the loss stays what it is, {with_mask:.3f} nats.{others}"
    if not abs(change) > 2 * error:
        return (
            f"Without the mask the loss goes {numbers}: by "
            f"{format_number(change, 3, sign=True)} ± {2 * error:.3f} (two standard errors over "
            f"{pieces} pieces), which is too little to tell from no change at all.{others}"
        )
    slightly = " slightly" if abs(change) < SMALL else ""
    if change > 0:
        return (
            f"Without the mask the loss **rises**{slightly}, {numbers}: this model was trained "
            f"with the mask, so it never learnt what to do with {HIDDEN[kind]}, and what leaks "
            f"in disturbs it.{others}"
        )
    meaning = (
        f"the model uses what leaks from {HIDDEN[kind]}, although it was trained without it"
        if kind == "decoder_self"
        else "what leaks in happens to help on these sentences"
    )
    return f"Without the mask the loss **falls**{slightly}, {numbers}: {meaning}.{others}"


def _change(masked: Leak, unmasked: Leak) -> tuple[float, float, int]:
    """Return the mean change of the loss on pieces with hidden keys, its error, their number."""
    changes = (unmasked.loss - masked.loss)[unmasked.hides]
    changes = changes[~np.isnan(changes)]
    # one piece has no standard error
    error = float(changes.std(ddof=1)) / len(changes) ** 0.5 if len(changes) > 1 else np.inf
    return float(changes.mean()), error, len(changes)


def _unchanged(masked: Leak, unmasked: Leak) -> str:
    """Describe the sentences without hidden keys, where the loss differs by rounding alone."""
    unaffected = ~unmasked.hides
    largest = float(np.nanmax(np.abs(unmasked.loss - masked.loss)[unaffected]))
    rest = "to the last digit" if largest == 0 else f"but for rounding, {largest:.0e} nats at most"
    verb = "has" if unaffected.sum() == 1 else "have"
    return (
        f"{capitalised(_sentences(unaffected))} {verb} no padding: nothing can leak in, and the "
        f"loss is the same {rest}."
    )


def _sentences(selected: npt.NDArray[np.bool_]) -> str:
    """Format numbers of sentences, such as `sentences 1 and 3`."""
    numbers = [str(number) for number in np.flatnonzero(selected) + 1]
    return f"sentence{'' if len(numbers) == 1 else 's'} {listing(numbers)}"
