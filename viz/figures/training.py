"""The course of one or more training runs, as `run.jsonl` tells it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from training.run.journal import Record
from training.schedule import cooldown_left, learning_rate
from viz.figures.axes import legend_below, log_ticks, step_axis, tick_label
from viz.figures.colors import CURVE_COLORS, GREY

COLORS = CURVE_COLORS[:4]
"""One colour for each run; a run that is alone has the first for what is measured in training, the
second for what is measured in validation."""

PLAN = {"d_model", "warmup", "lr_factor", "steps", "cooldown"}
"""What a run says of its schedule."""

MAX_DOTS = 30
"""Values of a run up to which each is a dot on its line."""

MAX_VALUES = 2_000
"""Values that are drawn of one quantity of a run: more than a chart has pixels side by side."""

HEIGHT = 220  # of a plot without its legend, in CSS pixels

WIDTHS, DASHES = (1.5, 2.5), ([1, 0], [7, 3])
"""Of the line of the first quantity of a chart, and of the second."""


def run_chart(
    runs: Mapping[str, Sequence[Record]],
    fields: Mapping[str, str],
    *,
    unit: str,
    log: bool = False,
    ticks: str = "~g",
    height: int = HEIGHT,
) -> alt.LayerChart:
    """One quantity over the steps of each run, on a full axis: from 0, or from 1 if logarithmic.

    Args:
        runs: records by the name of the run.
        fields: what is drawn, by its name in the record: one quantity or two, the second with a
            broad dashed line and dots, as it is measured more rarely.
        unit: title of the vertical axis.
        log: whether the vertical axis is logarithmic.
        ticks: d3 format of the numbers on the vertical axis.
        height: in CSS pixels, without the legend.
    """
    layers = _layers(runs, fields, unit, log=log, ticks=ticks)
    return alt.LayerChart(layer=layers).properties(
        height=height + _legend_height(len(runs), len(fields))
    )


def learning_rate_chart(runs: Mapping[str, Sequence[Record]]) -> alt.LayerChart:
    """The rate that each run used, over the rate that equation 3 of §5.3 planned for it."""
    frame = pd.concat([_planned(name, records) for name, records in runs.items()])
    planned = (
        alt.Chart(frame)
        .mark_line(strokeDash=[5, 4], strokeWidth=4, opacity=0.5, color=GREY)
        .encode(x="step:Q", y="value:Q", detail="run:N")
    )
    used = _layers(runs, {"lr": "used"}, "learning rate")
    return alt.LayerChart(layer=[planned, *used]).properties(
        height=HEIGHT + _legend_height(len(runs), 1)
    )


def values_left_out(runs: Mapping[str, Sequence[Record]]) -> bool:
    """Whether a run has more values of a quantity than are drawn."""
    return any(
        count > MAX_VALUES
        for records in runs.values()
        for name, count in Counter(name for record in records for name in record).items()
        if name not in ("step", "epoch")
    )


def _layers(
    runs: Mapping[str, Sequence[Record]],
    fields: Mapping[str, str],
    unit: str,
    *,
    log: bool = False,
    ticks: str = "~g",
) -> list[alt.Chart]:
    frame = _long(runs, fields)
    names, quantities = list(runs), list(fields.values())
    base = alt.Chart(frame).encode(
        x=step_axis(),
        y=alt.Y("value:Q", title=unit, scale=_scale(log), axis=_axis(frame, log, ticks)),
        color=_colour(names, fields),
        detail="run:N",
        tooltip=[
            alt.Tooltip("run:N"),
            alt.Tooltip("what:N"),
            alt.Tooltip("step:Q", format=","),
            alt.Tooltip("value:Q", format=".4~g"),
        ],
    )
    # a line through one value would be nothing at all
    few = len(frame) <= MAX_DOTS * len(runs)
    layers = [_line(base, quantities, dots=few and len(quantities) == 1)]
    if len(quantities) > 1:
        rare = base.transform_filter(alt.datum.what == quantities[1])
        layers.append(rare.mark_point(size=28, filled=True, opacity=1))
    return [*layers, _nearest(base)]


def _line(base: alt.Chart, quantities: list[str], *, dots: bool) -> alt.Chart:
    points = alt.OverlayMarkDef(size=28, filled=True) if dots else False
    if len(quantities) == 1:
        return base.mark_line(strokeWidth=WIDTHS[0], point=points)
    key = legend_below(orient="top", columns=2, symbolSize=400)
    return base.mark_line(point=points).encode(
        strokeWidth=alt.StrokeWidth(
            "what:N", scale=alt.Scale(domain=quantities, range=list(WIDTHS)), legend=key
        ),
        strokeDash=alt.StrokeDash(
            "what:N", scale=alt.Scale(domain=quantities, range=list(DASHES)), legend=key
        ),
    )


def _nearest(base: alt.Chart) -> alt.Chart:
    """A ring around the value that is nearest to the pointer, which need not meet the line."""
    at = alt.selection_point(
        on="pointerover", nearest=True, empty=False, clear="pointerout", encodings=["x", "y"]
    )
    return (
        base.mark_point(size=90, strokeWidth=2)
        .encode(opacity=alt.condition(at, alt.value(1), alt.value(0)))
        .add_params(at)
    )


def _scale(log: bool) -> alt.Scale:
    return alt.Scale(type="log", domainMin=1, nice=False) if log else alt.Scale(zero=True)


def _axis(frame: pd.DataFrame, log: bool, ticks: str) -> alt.Axis:
    values = log_ticks([1.0, *frame["value"]]) if log else alt.Undefined
    return alt.Axis(tickCount=5, labelExpr=tick_label(ticks), values=values)


def _planned(name: str, records: Sequence[Record]) -> pd.DataFrame:
    """Equation 3 at the steps that the run has come to; empty where the run does not say how."""
    rows = []
    plan: Record = {}
    for record in records:
        if record.keys() >= PLAN:
            plan = record
        elif "lr" in record and plan:
            rows.append((name, int(record["step"]), _rate(record, plan)))
    return pd.DataFrame(_thinned(rows), columns=["run", "step", "value"])


def _rate(record: Record, plan: Mapping[str, Any]) -> float:
    step = int(record["step"])
    left = cooldown_left(step, plan["steps"], plan["cooldown"])
    return learning_rate(step, plan["d_model"], plan["warmup"], plan["lr_factor"], left)


def _long(runs: Mapping[str, Sequence[Record]], fields: Mapping[str, str]) -> pd.DataFrame:
    rows: list[tuple[str, str, int, float]] = []
    for run, records in runs.items():
        for field, what in fields.items():
            drawn = _thinned([record for record in records if field in record])
            rows += [(run, what, int(r["step"]), float(r[field])) for r in drawn]
    return pd.DataFrame(rows, columns=["run", "what", "step", "value"])


def _thinned(rows: list[Any]) -> list[Any]:
    """All of them, or evenly spaced ones where they are too many, the last among them."""
    every = math.ceil(len(rows) / MAX_VALUES)
    return rows[::-1][::every][::-1] if every > 1 else rows


def _colour(names: list[str], fields: Mapping[str, str]) -> alt.Color:
    if len(names) > 1:
        # over the curves, two names in a row: the name of a run can be the path of its folder
        legend = legend_below(orient="top", columns=2, symbolOpacity=1)
        colors = [COLORS[n % len(COLORS)] for n in range(len(names))]
        return alt.Color("run:N", scale=alt.Scale(domain=names, range=colors), legend=legend)
    key = legend_below(orient="top", columns=2, symbolSize=400) if len(fields) > 1 else None
    colors = [COLORS[int(field.startswith("validation"))] for field in fields]
    scale = alt.Scale(domain=list(fields.values()), range=colors)
    return alt.Color("what:N", scale=scale, legend=key)


def _legend_height(runs: int, quantities: int) -> int:
    """What the legends would take from the curves: the chart on the page holds both."""
    names = 32 + 20 * math.ceil(runs / 2) if runs > 1 else 0
    return names + (32 if quantities > 1 else 0)
