"""Heads taken away by their measured importance: a slider beside the BLEU curve of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from transformer import CheckpointError, Translator
from transformer.analysis.corpus.head_report import Curve, HeadReport
from transformer.analysis.heads.means import COMMAND
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals
from viz.app.cache.memory import memo
from viz.app.chrome.charts import draw_spec, spec_of
from viz.app.chrome.problems import say
from viz.draw.formatting import format_number
from viz.pages.roles.removal.charts import curve_chart
from viz.pages.roles.stored_report import report_state, stored_report

ORDER = "removal_order"
"""Name in the URL of the measure that gives the order."""
_COUNT = "removal-count"


def remove_by_importance(
    translator: Translator, removals: Sequence[Removal], choose: Callable[[str], None]
) -> None:
    """Draw the slider and the curve, or the command that makes them.

    Args:
        translator: the translator of this page.
        removals: the heads that are off now.
        choose: the function that takes the text of the link of the next run.
    """
    st.subheader("Remove by importance", anchor=False)
    try:
        report = stored_report(translator)
    except CheckpointError as error:
        say(error)
        return
    if report is None:
        st.text(
            f"The importance of the heads was not measured for this model: run {COMMAND} "
            f"--checkpoint {translator.folder.name} --src FILE --ref FILE, with "
            f"{translator.source_language} and {translator.target_language} text line by line."
        )
        return
    if not report.curves:
        st.text(f"The report of the heads has no curve of BLEU: run {COMMAND} again.")
        return
    measure = st.selectbox(
        "Least important first, by", list(report.curves), key=ORDER, bind="query-params"
    )
    curve = report.curves[measure]
    at = place_on(curve, removals)
    st.session_state[_COUNT] = at or 0
    st.slider(
        f"How many of the {len(curve.order)} heads are away, each with z = 0",
        0,
        len(curve.order),
        key=_COUNT,
        on_change=lambda: choose(first_heads(curve, st.session_state[_COUNT])),
    )
    # most clicks leave the place on the curve as it was
    state = "curve", report_state(translator), measure, at
    draw_spec(
        memo(state, lambda: spec_of(curve_chart(curve, at))),
        key="removal-curve",
        alt="BLEU of the model over the number of heads that are taken away.",
    )
    st.caption(_note(report, curve, at))


def place_on(curve: Curve, removals: Sequence[Removal]) -> int | None:
    """Count the removed heads, if they are the first of a curve, and each set to zero."""
    first = {Removal(*head) for head in curve.order[: len(removals)]}
    return len(removals) if first == set(removals) else None


def first_heads(curve: Curve, count: int) -> str:
    """Format the first heads of a curve as the link has them."""
    return format_removals([Removal(*head) for head in curve.order[:count]])


def _note(report: HeadReport, curve: Curve, at: int | None) -> str:
    """Say what was measured, and where on the curve the page is."""
    measurement = (
        f"BLEU of greedy translations of {report.bleu_sentences:,} sentences, which are among "
        f"those that gave the order, with its 95 % bootstrap interval."
    )
    if at is None:
        return (
            f"{measurement} The heads that are off now are not the first of this order, or are not "
            f"set to z = 0."
        )
    below = max((p for p in curve.points if p.removed <= at), key=lambda p: p.removed)
    above = min((p for p in curve.points if p.removed >= at), key=lambda p: p.removed)
    whole = f"with all heads {format_number(report.bleu.value)}"
    if below == above:
        return f"{measurement} With {at} away {format_number(below.bleu.value)}, {whole}."
    return (
        f"{measurement} With {below.removed} away {format_number(below.bleu.value)}, with "
        f"{above.removed} {format_number(above.bleu.value)}, {whole}."
    )
