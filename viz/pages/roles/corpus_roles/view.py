"""The view “Roles”: a map of all heads by a measure on a corpus, and a card of one head."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from transformer import CheckpointError, Kind, Translator
from transformer.analysis.corpus.corpus_roles import corpus_role, measure_sentence
from transformer.analysis.corpus.head_report import HeadReport
from transformer.analysis.corpus.similar_heads import nearest_by_measures
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.importance import gradient_importance, losses_without
from transformer.analysis.heads.means import COMMAND
from transformer.analysis.heads.roles import head_roles
from transformer.kinds import KIND_TITLES, KINDS
from viz.app.chrome.explanations import code_line, explain
from viz.app.chrome.fields import controls_row
from viz.app.chrome.head_picker import pick_head
from viz.app.chrome.problems import without_paths
from viz.app.sentence import sentence_bar
from viz.draw.labels import SCREEN_NAMES
from viz.draw.palette import COLOR
from viz.pages.roles.clicked_head import draw_clickable
from viz.pages.roles.corpus_roles.map import (
    QUANTITIES,
    ROLE,
    Cell,
    describe_quantity,
    is_signed,
    kind_chart,
    report_cells,
    sentence_cells,
    spoken_table,
)
from viz.pages.roles.corpus_roles.open_head import (
    draw_card,
    draw_examples,
    draw_sentence_card,
    draw_similar_heads,
    measures_table,
)
from viz.pages.roles.corpus_roles.text import corpus_text
from viz.pages.roles.stored_report import stored_report

MEASURE = "roles_measure"
"""Name in the URL of the quantity that colours the map."""

_SIDE_BY_SIDE = 8  # heads up to which the tables of the three kinds fit beside each other
_ON_SENTENCE = "What each head does most on the sentence in the bar, from its weights there."


def show() -> None:
    """Draw the view: the map of all heads, and the card of the open one."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, _, trace = bar
    report, missing = report_or_message(translator)
    with controls_row("measured-controls"):
        opened = pick_head(translator)
        quantity = ROLE
        if report is not None:
            quantity = st.selectbox(
                "Colour", list(QUANTITIES), key=MEASURE, bind="query-params", width=290
            )
    if missing:
        st.text(missing)
    cells = sentence_cells(trace) if report is None else report_cells(report, quantity)
    suffix = "-beside" if translator.model.config.h <= _SIDE_BY_SIDE else ""
    with st.container(key=f"measured-map{suffix}"):
        for kind in KINDS:
            with st.container(gap=None):
                _table(cells[kind], kind, opened, quantity)
    st.caption(describe_quantity(quantity) if report is not None else _ON_SENTENCE)
    head, measures = st.columns([5, 7], gap="medium")
    with head:
        if report is None:
            draw_sentence_card(trace, opened)
        else:
            draw_card(report, report.head(opened), trace)
            draw_examples(translator, report.head(opened))
        draw_similar_heads(report, trace, opened)
    if report is not None:
        with measures:
            measures_table(report.head(opened))
            st.caption(corpus_text(report))
    _explain()


def report_or_message(translator: Translator) -> tuple[HeadReport | None, str]:
    """Return the report beside the checkpoint, or None and a message that says why."""
    try:
        report = stored_report(translator)
    except CheckpointError as error:
        return None, without_paths(error)
    if report is None:
        return None, (
            f"The heads of this model were not measured on a corpus: run {COMMAND} --checkpoint "
            f"{translator.folder.name} --src FILE --ref FILE --examples FILE, with "
            f"{translator.source_language} and {translator.target_language} text line by line. "
            f"Until then the page shows the sentence in the bar alone."
        )
    return report, ""


def _table(cells: Sequence[Cell], kind: Kind, opened: Head, quantity: str) -> None:
    """Draw the heads of one kind; a click opens a head."""
    # in one element with the title: the table for screen readers then takes no room
    st.html(_title(kind) + spoken_table(cells, kind, quantity))
    shape = 1 + max(cell.head.layer for cell in cells), 1 + max(cell.head.head for cell in cells)
    draw_clickable(
        kind_chart(cells, kind, opened, signed=is_signed(quantity)),
        "measured",
        kind,
        opened,
        shape,
        f"{quantity} of each {SCREEN_NAMES[kind]} head; a table with the same stands before it, "
        f"and the menus above open a head.",
    )


def _title(kind: Kind) -> str:
    dot = f'<span aria-hidden="true" style="color: {COLOR[kind]}">●</span>'
    return f"<div>{dot} {KIND_TITLES[kind]}</div>"


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
