"""Why this word and not that one: what speaks for each, and the check by erasing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translator
from transformer.analysis.logits.contrast import Contrast, contrast, erase
from transformer.analysis.logits.direct_logits import direct_logits
from transformer.analysis.teacher_forcing import Array
from viz.app import sentence_bar
from viz.app.charts import altair_chart
from viz.app.explanations import code_line, explain
from viz.app.head_picker import pick_head
from viz.app.markdown import as_markdown
from viz.app.memory import memo_per_trace
from viz.app.problems import without_paths
from viz.app.progress import progress_bar
from viz.draw.formatting import format_number, format_probability
from viz.draw.labels import capitalised, display_tokens, quoted
from viz.pages.roles.other_piece import clear_other, pick_other, shown_piece, text_of
from viz.pages.roles.why_this_word.charts import MOST_ROWS, pieces_chart, strongest
from viz.pages.roles.why_this_word.heads import show_heads, show_open_head
from viz.pages.roles.written_piece import choices_of, least_certain_step, pick_written

ERASE = "erase"
"""Name in the URL: whether the pieces of a long sentence are erased, too."""
ERASED_AT_ONCE = 32
"""Pieces up to which the check is done unasked: many more would keep the page waiting."""
MOST_ERASED = 128
"""Each piece is one run of the whole model, so the time grows with the cube of the length."""
OF_NOTE = 0.1
"""Share of the largest bar from which two bars can be said to disagree."""


def show() -> None:
    """The view: a written piece, another one, and what speaks for the first or the second."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, _, trace = bar
    source_piece = translator.languages.one("source", "piece")
    st.markdown(
        "At one step of the translation: what speaks for the piece that was written, what for "
        f"another one that could have stood there, and what changes when {source_piece} is erased."
    )
    with st.container(
        key="why-controls", horizontal=True, vertical_alignment="bottom", gap="small"
    ):
        head = pick_head(translator)
    choices = choices_of(translator, trace)
    step, no_step = pick_written(trace, least_certain_step(choices), on_pick=clear_other)
    written = trace.target_pieces[step]
    other, said = pick_other(translator, written.id, choices[step][1:])
    for sentence in filter(None, (no_step, said)):
        st.text(sentence)
    names = shown_piece(written.text), shown_piece(text_of(translator, other))
    contrasted = memo_per_trace(
        trace, ("contrast", step, other), lambda: contrast(translator.model, trace, step, other)
    )
    st.subheader(as_markdown(_headline(*names)), anchor=False)
    st.text(_odds(*names, choices[step][0].probability, contrasted.log_odds))
    sources, heads = st.columns(2, gap="large")
    with sources:
        _sources(translator, trace, step, other, contrasted, names)
        show_open_head(trace, step, contrasted, head, *names)
    with heads:
        st.subheader("Heads", anchor=False)
        show_heads(contrasted, head, *names)
    _explain(source_piece)


def disagree(first: Array, check: Array) -> npt.NDArray[np.bool_]:
    """`[place]`: where both have a bar of note, and on different sides of 0."""
    noted = [np.abs(values) >= OF_NOTE * np.abs(values).max() for values in (first, check)]
    apart: npt.NDArray[np.bool_] = noted[0] & noted[1] & (np.sign(first) != np.sign(check))
    return apart


def _headline(written: str, other: str) -> str:
    return f"Why {quoted(written)} and not {quoted(other)}?"


def _odds(written: str, other: str, own: float, log_odds: float) -> str:
    """The two probabilities and the logarithm of their ratio."""
    favoured = written if log_odds >= 0 else other
    return (
        f"P is {format_probability(own)} for {quoted(written)} and "
        f"{format_probability(own * math.exp(-log_odds))} for {quoted(other)}: log-odds "
        f"{format_number(log_odds, sign=True)} nats, for {quoted(favoured)}."
    )


def _sources(
    translator: Translator,
    trace: AttentionTrace,
    step: int,
    other: int,
    found: Contrast,
    names: tuple[str, str],
) -> None:
    """Each piece of the source: to first order, and really erased."""
    language = translator.languages.name("source")
    st.subheader(f"{capitalised(language)} pieces", anchor=False)
    tokens, first = display_tokens(trace.source_tokens), found.by_source
    erased, why_not = _erased(translator, trace, step, other)
    places = strongest(first) if erased is None else strongest(first, erased)
    marked = None if erased is None else disagree(first, erased).tolist()
    left, right = st.columns(2, gap="small")
    with left:
        altair_chart(
            pieces_chart(tokens, first, "gradient × value, nats", places=places),
            key="why-sources",
            alt=f"Gradient × value of each {language} piece, over all heads of cross-attention.",
        )
    with right:
        if erased is None:
            st.text(why_not)
        else:
            altair_chart(
                pieces_chart(
                    tokens, erased, "lost when erased, nats", places=places, marked=marked
                ),
                key="why-erased",
                alt=f"What the log-odds really lose when each {language} piece is erased.",
            )
    st.text(_reading(names, marked))
    if len(tokens) > len(places):
        st.text(
            f"These are the {MOST_ROWS} largest of {len(tokens)} pieces, in the order of the text."
        )


def _reading(names: tuple[str, str], marked: Sequence[bool] | None) -> str:
    """How the bars are to be read."""
    written, other = map(quoted, names)
    text = f"Above 0 a piece speaks for {written}, below for {other}."
    if not any(marked or ()):
        return text
    return (
        f"{text} Where the two disagree (≠), the erasing is what happened; gradient × value is a "
        f"straight line through the model as it stands."
    )


def _erased(
    translator: Translator, trace: AttentionTrace, step: int, other: int
) -> tuple[Array | None, str]:
    """What erasing each piece really costs, or why that is not shown."""
    pieces = len(trace.source_pieces)
    if pieces > MOST_ERASED:
        return None, (
            f"Pieces are erased one by one in sentences of up to {MOST_ERASED} pieces: this one "
            f"has {pieces}."
        )
    if pieces > ERASED_AT_ONCE and not st.toggle(
        f"Erase each of {pieces} pieces", key=ERASE, bind="query-params"
    ):
        return None, "The check by erasing takes some seconds on a sentence of this length."

    def compute() -> Array:
        with progress_bar(f"Erasing {pieces} pieces one by one") as report:
            return erase(translator.model, trace, step, other, progress=report)

    try:
        return memo_per_trace(trace, ("erased", step, other), compute), ""
    except HeadlightError as error:
        return None, without_paths(error)


def _explain(source_piece: str) -> None:
    explain(
        f"The log-odds are log P of the written piece minus log P of the other one, given the "
        f"source and all that was written before. Gradient × value is what they would lose, to "
        f"first order, if a head took nothing from a key; summed over the heads of cross-attention "
        f"it is the bar of {source_piece}: {code_line(contrast)}. Setting a piece against another "
        f"is Yin and Neubig's (2022), who take the gradient at the input embeddings. "
        f"Direct logits are what a head adds to the difference of the two logits by way of the "
        f"residual stream, with the norms (§3.1) held as they are: {code_line(direct_logits)}. "
        f"Erasing masks a piece as padding is masked, in encoder and cross-attention, and runs the "
        f"model again: {code_line(erase)}. This is what speaks for a piece and what changed when "
        f"something was erased, not why the model decided; other pieces can stand in for the one "
        f"that is gone."
    )
