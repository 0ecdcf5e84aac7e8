"""The page “Masks”: visible keys in a padded batch, and leaks without a mask (§3.1, §3.2.3)."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, Kind
from transformer.analysis.batch import TraceBatch, batch_traces
from transformer.analysis.paper import masking
from transformer.analysis.paper.masking import MODEL_MASKS, MaskName
from transformer.attention import attention_scores
from transformer.masks import causal_mask, padding_and_causal_mask, padding_mask
from transformer.text.languages import Languages
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import code_line, explain
from viz.app.chrome.fields import choose_one, clamp_state, controls_row, whole_number
from viz.app.chrome.head_picker import pick_kind
from viz.app.chrome.mounts import mount_masks
from viz.app.sentence import further_sentences, sentence_bar
from viz.app.sentence.origin import batch_caption
from viz.draw.formatting import counted
from viz.draw.labels import SCREEN_NAMES, capitalised, display_tokens, row_names
from viz.draw.mask_grids import MaskGrid, Row, encode_masks
from viz.draw.mask_reasons import describe_row
from viz.pages.masks.charts import shift_chart
from viz.pages.masks.removed_mask import (
    draw_losses,
    draw_shares,
    explain_leak,
    leaks_with_and_without,
)

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
    """Describe a row of the grid, by kind."""
    return {
        "encoder_self": f"Each row is {languages.one('source', 'token')} that looks",
        "decoder_self": "Each row of the decoder reads one token, by which it is named, and writes "
        "the next",
        "cross": "Each row of the decoder reads one token and writes the next, by which it is "
        "named here",
    }


def _which_mask(languages: Languages) -> dict[Kind, str]:
    """Explain the model's mask, by kind."""
    return {
        "encoder_self": f"Every {languages.name('source')} token may see the whole sentence, so "
        "the encoder has the padding mask alone.",
        "decoder_self": "A position of the decoder may not see what it has still to write, so it "
        "has the causal mask. Padding stands on the right, where that mask hides it from every "
        "real token.",
        "cross": f"{capitalised(languages.one('target', 'token'))} is neither before nor after "
        f"{languages.one('source', 'one')}, so there is no causal mask between the languages, and "
        "“both” is the padding mask of the source.",
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
