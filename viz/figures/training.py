"""The course of one or more training runs, as `run.jsonl` tells it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from training.runlog import Record
from training.schedule import cooldown_left, learning_rate
from viz.figures.axes import legend_below, log_ticks, step_axis, tick_label
from viz.figures.colors import CURVE_COLORS, GREY

COLORS = CURVE_COLORS[:4]
"""One colour for each run."""

PLAN = {"d_model", "warmup", "lr_factor", "steps", "cooldown"}
"""What a run says of its schedule."""

MAX_DOTS = 30
"""Values of a run up to which each is a dot on its line."""


def run_chart(
    runs: Mapping[str, Sequence[Record]],
    fields: Mapping[str, str],
    *,
    unit: str,
    log: bool = False,
    ticks: str = "~g",
    height: int = 220,
) -> alt.LayerChart | alt.Chart:
    """One quantity over the steps of each run.

    Args:
        runs: records by the name of the run.
        fields: what is drawn, by its name in the record; the second of two is drawn with points,
            as it is measured more rarely.
        unit: title of the vertical axis.
        log: whether the vertical axis is logarithmic.
        ticks: d3 format of the numbers on the vertical axis.
        height: in CSS pixels, without the legend of several runs.
    """
    frame = _long(runs, fields)
    base = alt.Chart(frame, height=height + _legend_height(len(runs))).encode(
        x=step_axis(),
        y=alt.Y(
            "value:Q",
            title=unit,
            scale=alt.Scale(type="log", nice=False, padding=8) if log else alt.Scale(zero=False),
            axis=alt.Axis(
                tickCount=5,
                labelExpr=tick_label(ticks),
                values=log_ticks(frame["value"]) if log else alt.Undefined,
            ),
        ),
        color=_colour(list(runs)),
        detail="what:N",
        tooltip=[
            alt.Tooltip("run:N"),
            alt.Tooltip("what:N"),
            alt.Tooltip("step:Q", format=","),
            alt.Tooltip("value:Q", format=".4~g"),
        ],
    )
    first, *rest = fields.values()
    dots = alt.OverlayMarkDef(size=28, filled=True)
    # a line through one value would be nothing at all
    few = len(frame) <= MAX_DOTS * len(runs)
    line = base.transform_filter(alt.datum.what == first).mark_line(
        strokeWidth=1.5, opacity=0.7 if rest else 1, point=dots if few and not rest else False
    )
    if not rest:
        return line
    return line + base.transform_filter(alt.datum.what == rest[0]).mark_line(
        strokeWidth=2, point=dots
    )


def learning_rate_chart(
    runs: Mapping[str, Sequence[Record]], *, height: int = 220
) -> alt.LayerChart:
    """The rate that each run used, over the rate that equation 3 of §5.3 planned for it."""
    used = run_chart(runs, {"lr": "used"}, unit="learning rate", height=height)
    planned = (
        alt.Chart(pd.concat([_planned(n, r) for n, r in runs.items()]), height=used.height)
        .mark_line(strokeDash=[5, 4], strokeWidth=4, opacity=0.5, color=GREY)
        .encode(x="step:Q", y="value:Q", detail="run:N")
    )
    return planned + used


def _planned(name: str, records: Sequence[Record]) -> pd.DataFrame:
    """Equation 3 at the steps that the run has come to; empty where the run does not say how."""
    steps, rates = [], []
    plan: Record = {}
    for record in records:
        if record.keys() >= PLAN:
            plan = record
        elif "lr" in record and plan:
            steps.append(int(record["step"]))
            rates.append(_rate(steps[-1], plan))
    return pd.DataFrame({"run": name, "step": steps, "value": rates})


def _rate(step: int, plan: Mapping[str, Any]) -> float:
    left = cooldown_left(step, plan["steps"], plan["cooldown"])
    return learning_rate(step, plan["d_model"], plan["warmup"], plan["lr_factor"], left)


def _long(runs: Mapping[str, Sequence[Record]], fields: Mapping[str, str]) -> pd.DataFrame:
    rows = [
        {"run": run, "what": what, "step": int(record["step"]), "value": float(record[field])}
        for run, records in runs.items()
        for record in records
        for field, what in fields.items()
        if field in record
    ]
    return pd.DataFrame(rows, columns=["run", "what", "step", "value"])


def _colour(names: list[str]) -> alt.Color:
    # over the curves, two names in a row: the name of a run can be the path of its folder
    legend = legend_below(orient="top", columns=2, symbolOpacity=1) if len(names) > 1 else None
    colors = [COLORS[n % len(COLORS)] for n in range(len(names))]
    return alt.Color("run:N", scale=alt.Scale(domain=names, range=colors), legend=legend)


def _legend_height(runs: int) -> int:
    """What the legend would take from the curves: the chart on the page holds both."""
    return 32 + 20 * math.ceil(runs / 2) if runs > 1 else 0
