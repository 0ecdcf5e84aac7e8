"""What each head does, measured on a corpus: a map of the model, and a card of one head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from transformer import AttentionTrace, CheckpointError, Kind, Translator
from transformer.analysis.corpus.corpus_roles import corpus_role, measure_sentence
from transformer.analysis.corpus.head_report import COMMAND, HeadReport
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.importance import gradient_importance, losses_without
from transformer.analysis.heads.roles import head_roles
from transformer.analysis.heads.similar_heads import nearest_by_measures
from transformer.kinds import KIND_TITLES, KINDS
from viz.app import sentence_bar
from viz.app.charts import altair_chart
from viz.app.explanations import code_line, explain
from viz.app.head_picker import open_head, pick_head
from viz.app.problems import without_paths
from viz.draw.labels import SCREEN_NAMES
from viz.draw.palette import COLOR
from viz.pages.roles.clicked_head import picked
from viz.pages.roles.corpus_roles.card import card, card_of_sentence
from viz.pages.roles.corpus_roles.examples import examples
from viz.pages.roles.corpus_roles.map import Cell, kind_chart, spoken_table
from viz.pages.roles.corpus_roles.quantities import (
    QUANTITIES,
    ROLE,
    cells_of_report,
    cells_of_sentence,
    is_signed,
    meaning,
)
from viz.pages.roles.corpus_roles.similar import like_this_one
from viz.pages.roles.corpus_roles.table import measures_table
from viz.pages.roles.corpus_roles.text import measured_on
from viz.pages.roles.stored_report import stored_report

MEASURE = "roles_measure"
"""Name in the URL of what the map is coloured by."""


def show() -> None:
    """The view: every head by what was measured of it, and one head in words."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, _, trace = bar
    report, missing = report_of(translator)
    with st.container(
        key="measured-controls", horizontal=True, vertical_alignment="bottom", gap="small"
    ):
        opened = pick_head(translator)
        quantity = ROLE
        if report is not None:
            quantity = st.selectbox(
                "Colour", list(QUANTITIES), key=MEASURE, bind="query-params", width=290
            )
    if missing:
        st.text(missing)
    cells = cells_of_sentence(trace) if report is None else cells_of_report(report, quantity)
    beside = "-beside" if translator.model.config.h <= _BESIDE else ""
    with st.container(key=f"measured-map{beside}"):
        _map(cells, opened, quantity)
    st.caption(meaning(quantity) if report is not None else _ON_SENTENCE)
    head, every = st.columns([5, 7], gap="medium")
    with head:
        _head(translator, trace, report, opened)
        like_this_one(report, trace, opened)
    if report is not None:
        with every:
            measures_table(report.head(opened))
            st.caption(measured_on(report))
    _explain()


_BESIDE = 8  # heads up to which the tables of the three kinds have room beside each other
_ON_SENTENCE = "What each head does most on the sentence in the bar, from its weights there."


def report_of(translator: Translator) -> tuple[HeadReport | None, str]:
    """The report beside the checkpoint, and what to say where there is none."""
    try:
        report = stored_report(translator)
    except CheckpointError as error:
        return None, without_paths(error)
    if report is None:
        return None, (
            f"The heads of this model were not measured on a corpus: run {COMMAND} --checkpoint "
            f"{translator.folder} --src FILE --ref FILE --examples FILE, with "
            f"{translator.source_language} and {translator.target_language} text line by line. "
            f"Until then the page shows the sentence in the bar alone."
        )
    return report, ""


def _map(cells: Mapping[Kind, Sequence[Cell]], opened: Head, quantity: str) -> None:
    """The three tables."""
    for kind in KINDS:
        with st.container(gap=None):
            _table(cells[kind], kind, opened, quantity)


def _table(cells: Sequence[Cell], kind: Kind, opened: Head, quantity: str) -> None:
    """The heads of one kind; a click opens a head."""
    # one element with what only screen readers get, which then takes no room
    st.html(_title(kind) + spoken_table(cells, kind, quantity))
    shape = 1 + max(cell.head.layer for cell in cells), 1 + max(cell.head.head for cell in cells)
    # a click on the head that was clicked last would only take its selection away: what is open
    # elsewhere gives the chart a new key, and with it no selection
    own = f"{opened.layer}.{opened.head}" if opened.kind == kind else ""
    key = f"measured-{kind}-{own}"

    def clicked() -> None:
        at = picked(st.session_state.get(key), shape)
        if at is not None:
            open_head(Head(kind, *at))

    altair_chart(
        kind_chart(cells, kind, opened, signed=is_signed(quantity)),
        key=key,
        on_select=clicked,
        alt=f"{quantity} of each {SCREEN_NAMES[kind]} head; a table with the same stands before "
        f"it, and the menus above open a head.",
    )


def _title(kind: Kind) -> str:
    dot = f'<span aria-hidden="true" style="color: {COLOR[kind]}">●</span>'
    return f"<div>{dot} {KIND_TITLES[kind]}</div>"


def _head(
    translator: Translator, trace: AttentionTrace, report: HeadReport | None, opened: Head
) -> None:
    """The open head in words, and where it does most what its role says."""
    if report is None:
        card_of_sentence(trace, opened)
        return
    figures = report.head(opened)
    card(report, figures, trace)
    examples(translator, figures)


def _explain() -> None:
    explain(
        f"Each measure is the mean over the rows of one head on a corpus, "
        f"{code_line(measure_sentence)}; the strongest, by its threshold, names the head: "
        f"{code_line(corpus_role)}, and on one sentence {code_line(head_roles)}. Positional heads, "
        f"rare words and confidence are those of Voita et al. 2019; importance is |∂L/∂ξ| of a "
        f"gate ξ on the head (Michel et al. 2019), {code_line(gradient_importance)}, and the loss "
        f"with the head's output at 0, {code_line(losses_without)}. Heads are alike by the root "
        f"mean square of their differences in standard deviations: "
        f"{code_line(nearest_by_measures)}. All of it says where a head looked and what changed "
        f"when it was removed, never why the model decided."
    )
