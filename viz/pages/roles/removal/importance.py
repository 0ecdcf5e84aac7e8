"""Removal of heads by measured importance: a slider beside the model's BLEU curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from transformer import CheckpointError, Translator
from transformer.analysis.corpus.head_report import COMMAND, Curve, HeadReport
from viz.app.cache.memory import memo
from viz.app.chrome.charts import draw_spec, spec_of
from viz.draw.formatting import format_number
from viz.pages.roles.removal.changes import Change, format_changes
from viz.pages.roles.removal.charts import curve_chart
from viz.pages.roles.stored_report import report_state, stored_report

ORDER = "removal_order"
"""Name in the URL of the measure that gives the order."""
_COUNT = "removal-count"


def remove_by_importance(
    translator: Translator, changes: Sequence[Change], choose: Callable[[str], None]
) -> None:
    """Draw the slider, which sets the link by `choose`, and the curve, or how to measure it."""
    st.subheader("Remove by importance", anchor=False)
    try:
        report = stored_report(translator)
    except CheckpointError as error:
        st.text(str(error))
        return
    if report is None:
        st.text(
            f"The importance of the heads was not measured for this model: run {COMMAND} "
            f"--checkpoint {translator.folder} --src FILE --ref FILE, with "
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
    removed = position_on_curve(curve, changes)
    st.session_state[_COUNT] = removed or 0
    st.slider(
        f"How many of the {len(curve.order)} heads are away, each with z = 0",
        0,
        len(curve.order),
        key=_COUNT,
        on_change=lambda: choose(first_heads(curve, st.session_state[_COUNT])),
    )
    # most clicks do not change the position on the curve
    state = "curve", report_state(translator), measure, removed
    draw_spec(
        memo(state, lambda: spec_of(curve_chart(curve, removed))),
        key="removal-curve",
        alt="BLEU of the model over the number of heads that are taken away.",
    )
    st.caption(_caption(report, curve, removed))


def position_on_curve(curve: Curve, changes: Sequence[Change]) -> int | None:
    """Return the number of removed heads if they are the first of the curve, else None."""
    expected = set(curve.order[: len(changes)])
    is_curve = expected == {change.head for change in changes}
    return len(changes) if is_curve and all(change.how == "zero" for change in changes) else None


def first_heads(curve: Curve, count: int) -> str:
    """Format the first heads of a curve as text of the link."""
    return format_changes([Change(head) for head in curve.order[:count]])


def _caption(report: HeadReport, curve: Curve, removed: int | None) -> str:
    """Describe the measurement and the position on the curve."""
    source = (
        f"BLEU of greedy translations of {report.bleu_sentences:,} sentences, which are among "
        f"those that gave the order, with its 95 % bootstrap interval."
    )
    if removed is None:
        return (
            f"{source} The heads that are off now are not the first of this order, or are not set "
            f"to z = 0."
        )
    below = max(
        (point for point in curve.points if point.removed <= removed),
        key=lambda point: point.removed,
    )
    above = min(
        (point for point in curve.points if point.removed >= removed),
        key=lambda point: point.removed,
    )
    all_heads = f"with all heads {format_number(report.bleu.value)}"
    if below == above:
        return f"{source} With {removed} away {format_number(below.bleu.value)}, {all_heads}."
    return (
        f"{source} With {below.removed} away {format_number(below.bleu.value)}, with "
        f"{above.removed} {format_number(above.bleu.value)}, {all_heads}."
    )
