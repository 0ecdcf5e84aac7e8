"""The page “Masks”: visible keys in a padded batch, and leaks without a mask (§3.1, §3.2.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, Kind, Translator
from transformer.analysis.batch import TraceBatch, batch_traces
from transformer.analysis.paper import masking
from transformer.analysis.paper.leaks import Leak, leak
from transformer.analysis.paper.masking import MODEL_MASKS, MaskName
from transformer.attention import attention_scores
from transformer.masks import causal_mask, padding_and_causal_mask, padding_mask
from transformer.text.languages import Languages
from viz.app.cache.cached_results import trace_identity
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import code_line, explain
from viz.app.chrome.fields import choose_one, clamp_state, controls_row, whole_number
from viz.app.chrome.head_picker import pick_kind
from viz.app.chrome.mounts import mount_masks
from viz.app.sentence import further_sentences, sentence_bar
from viz.app.sentence.origin import batch_caption
from viz.draw.formatting import counted, format_number, listing
from viz.draw.labels import SCREEN_NAMES, capitalised, display_tokens, row_names
from viz.draw.mask_grids import MaskGrid, Row, describe_row, encode_masks
from viz.pages.masks.charts import loss_chart, share_chart, shift_chart

VIEWS = GRIDS, SHIFT, WITHOUT_MASK = "who sees whom", "shift right", "take it away"
MASKS: dict[str, MaskName | None] = {
    "in use": None,
    "padding": "padding",
    "causal": "causal",
    "both": "both",
}
"""The menu of masks; the first is that of the model."""

NUMBERS = "numbers"
STYLES = ("booleans", NUMBERS)
VIEW, WHICH, STYLE, SENTENCE, ROW = "mask-view", "mask", "mask-as", "mask-sentence", "mask-row"
"""Names in the URL; sentences and rows count from 1 there."""

_DEFAULT = "decoder"
_NAMES: dict[MaskName, str] = {
    "padding": "padding mask",
    "causal": "causal mask",
    "both": "padding and causal mask",
}


def _rows(languages: Languages) -> dict[Kind, str]:
    return {
        "encoder_self": f"Each row is {languages.with_article('source', 'token')} that looks",
        "decoder_self": "Each row of the decoder reads one token, by which it is named, and writes "
        "the next",
        "cross": "Each row of the decoder reads one token and writes the next, by which it is "
        "named here",
    }


def _which_mask(languages: Languages) -> dict[Kind, str]:
    return {
        "encoder_self": f"Every {languages.name('source')} token may see the whole sentence, so "
        "the encoder has the padding mask alone.",
        "decoder_self": "A position of the decoder may not see what it has still to write, so it "
        "has the causal mask. Padding stands on the right, where that mask hides it from every "
        "real token.",
        "cross": f"{capitalised(languages.with_article('target', 'token'))} is neither before nor "
        f"after {languages.with_article('source', 'one')}, so there is no causal mask between the "
        "languages, and “both” is the padding mask of the source.",
    }


def show() -> None:
    """Draw the page for the sentence in the bar and the further ones."""
    row = controls_row("mask-controls")
    with row:
        view = choose_one("View", VIEWS, VIEW)
        kind = pick_kind(default=_DEFAULT, disabled=view == SHIFT)
    if view == WITHOUT_MASK:
        _without_mask(kind, row)
        return
    picture = st.container(key="mask-picture")
    explanation, sentences = st.columns([2, 1], gap="large")
    with sentences:
        traces = further_sentences.traces()
    if not traces:
        return
    if view == GRIDS:
        _grids(traces, kind, row, picture, explanation)
    else:
        _shift(batch_traces(traces), picture, explanation)


def _number(label: str, key: str, maximum: int, default: int = 1) -> int:
    """Draw a field that counts from 1; return an index from 0."""
    default = min(default, maximum)
    clamp_state(key, maximum, default)
    return whole_number(label, key, 1, maximum, default, width=120) - 1


def _grids(
    traces: Sequence[AttentionTrace],
    kind: Kind,
    row: DeltaGenerator,
    picture: DeltaGenerator,
    description: DeltaGenerator,
) -> None:
    """Draw the masks of the batch as grids, and describe one row."""
    batch = batch_traces(traces)
    labels = masking.labels(batch, kind)
    with row:
        mask = MASKS[choose_one("Mask", MASKS, WHICH, labelled=True)] or MODEL_MASKS[kind]
        style = choose_one("Drawn as", STYLES, STYLE)
    with description, controls_row():
        sentence = _number("Sentence", SENTENCE, len(labels))
        # the first row sees nothing but itself
        query = _number("Row", ROW, len(labels[sentence].queries), default=3)
    reasons = masking.mask_reasons(batch, kind, mask)
    real = masking.real_queries(batch, kind)
    titles = [_title(number, rows) for number, rows in enumerate(real.sum(1), start=1)]
    names = [_row_names(batch, kind, number) for number in range(len(labels))]
    title = f"{SCREEN_NAMES[kind].capitalize()} attention, {_NAMES[mask]}"
    with picture:
        # cross-attention has no causal mask, so both masks together are that of padding
        in_use = mask == MODEL_MASKS[kind] or (kind == "cross" and mask == "both")
        use = "as the model uses it" if in_use else "which the model does not use"
        st.subheader(f"{title}, {use}", anchor=False)
        grids = [MaskGrid(*parts) for parts in zip(titles, reasons, labels, names, strict=True)]
        data = encode_masks(
            grids,
            kind,
            title=title,
            as_numbers=style == NUMBERS,
            chosen=(sentence, query),
            caption=batch_caption(traces, f"{title}, {use}."),
        )
        mount_masks("mask-grids", data, grids, _choose)
    with description:
        keys = display_tokens(labels[sentence].keys)
        with st.container(key="mask-words", gap="xsmall"):
            for text in describe_row(
                names[sentence][query], keys, reasons[sentence, query].tolist()
            ):
                st.text(text)
            if not real[sentence, query]:
                st.text("This row is padding itself: it is computed, and nobody reads it.")
        _explain_grids(kind, traces[0].languages)


def _row_names(batch: TraceBatch, kind: Kind, sentence: int) -> list[str]:
    if kind == "encoder_self":
        return row_names(batch.source_tokens[sentence])
    reads, writes = batch.decoder_tokens[sentence], batch.target_tokens[sentence]
    return row_names(reads, reads=reads, writes=writes)


def _title(number: int, real: int) -> str:
    return f"Sentence {number}: {counted(real, 'token')}"


def _choose(row: Row) -> None:
    """Set the two numbers to the clicked row."""
    st.session_state[SENTENCE], st.session_state[ROW] = (index + 1 for index in row)


def _explain_grids(kind: Kind, languages: Languages) -> None:
    explain(
        f"{_rows(languages)[kind]}, each column is a token that it may see or not. Sentences of "
        "one batch are padded to the longest. Before the softmax of equation 1, 0 is added to the "
        "scores that stay and −∞ to those that are hidden, so that their weight is exactly 0 "
        f"(§3.2.3). {_which_mask(languages)[kind]} {code_line(padding_mask)}, "
        f"{code_line(causal_mask)}, {code_line(padding_and_causal_mask)}, "
        f"{code_line(attention_scores)}."
    )


def _shift(batch: TraceBatch, picture: DeltaGenerator, explanation: DeltaGenerator) -> None:
    """Draw what the decoder reads and writes, for each sentence."""
    with picture:
        st.subheader("The decoder reads what it wrote one step before", anchor=False)
        real = masking.real_queries(batch, "decoder_self").sum(1)
        titles = [_title(number, tokens) for number, tokens in enumerate(real, start=1)]
        with st.container(key="mask-shift"):
            altair_chart(
                shift_chart(batch.decoder_tokens, batch.target_tokens, titles),
                width="content",
                alt="What the decoder reads and what it writes at each position of each sentence.",
            )
    with explanation:
        explain(
            "The decoder's input is its output, shifted right by one position (§3.1): it begins "
            "with `<s>`, and each written token is read one position later, along the line. "
            "Together with the causal mask this makes a prediction depend on earlier tokens alone, "
            f"so all positions are trained in one pass. {code_line(batch_traces)}."
        )


def _without_mask(kind: Kind, row: DeltaGenerator) -> None:
    """Draw the leaks without the mask, and the change of the loss."""
    leaks, losses = st.columns(2, gap="large")
    picture = losses.container(key="mask-losses")
    with losses:
        traces = further_sentences.traces()
    if not traces:
        return
    translator = sentence_bar.drawn_from().translator
    batch = batch_traces(traces)
    with row:
        sentence = _number("Sentence", SENTENCE, len(traces))
    masked, unmasked = leaks_with_and_without(translator, traces, batch, kind)
    with leaks:
        draw_shares(unmasked, kind)
        explain_leak(masked, unmasked, kind)
    with picture:
        draw_losses(batch, masked, unmasked, kind, sentence)


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
        scope = "Every" if kind == "decoder_self" else "No"
        return (
            f"{scope} sentence of this batch {reason}, so this mask hides nothing, nothing can "
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
    rounding = (
        "to the last digit" if largest == 0 else f"but for rounding, {largest:.0e} nats at most"
    )
    verb = "has" if unaffected.sum() == 1 else "have"
    return (
        f"{capitalised(_sentences(unaffected))} {verb} no padding: nothing can leak in, and the "
        f"loss is the same {rounding}."
    )


def _sentences(selected: npt.NDArray[np.bool_]) -> str:
    numbers = [str(number) for number in np.flatnonzero(selected) + 1]
    return f"sentence{'' if len(numbers) == 1 else 's'} {listing(numbers)}"
