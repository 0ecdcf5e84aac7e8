"""Charts of training runs from their logs, `run.jsonl`."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from training.run.journal import Record
from training.schedule import cooldown_left, learning_rate
from viz.figures import axes, forms

COLORS = axes.CURVE_COLORS[:4]
"""Colours of the runs; a single run has the first for training, the second for validation."""

PLAN = {"d_model", "warmup", "lr_factor", "steps", "cooldown"}  # fields of a run's schedule
MAX_DOTS, MAX_VALUES = 30, 2_000
"""Values of a run up to which each has a dot on its line; largest number of drawn values of one
quantity, more than a chart has pixels."""

HEIGHT = 220  # of a plot without its legend, in CSS pixels
WIDTHS, DASHES = (1.5, 2.5), ([1, 0], [7, 3])
"""Line styles of the first quantity of a chart, and of the second."""


def run_chart(
    runs: Mapping[str, Sequence[Record]],
    fields: Mapping[str, str],
    *,
    unit: str,
    log: bool = False,
    ticks: str = "~g",
    height: int = HEIGHT,
    below: Sequence[alt.Chart] = (),
) -> alt.LayerChart:
    """Draw one quantity over the steps of each run, from 0, or from 1 on a logarithmic axis.

    Of two `fields` of the records, the second, measured less often, is dashed and has dots. The
    charts `below` lie under the curves.
    """
    rows: list[tuple[str, str, int, float]] = []
    for run, records in runs.items():
        for field, quantity in fields.items():
            drawn = _thinned([record for record in records if field in record])
            rows += [(run, quantity, int(record["step"]), float(record[field])) for record in drawn]
    frame = pd.DataFrame(rows, columns=["run", "what", "step", "value"])
    names, quantities = list(runs), list(fields.values())
    scale = alt.Scale(type="log", domainMin=1, nice=False) if log else alt.Scale(zero=True)
    values = axes.log_ticks([1.0, *frame["value"]]) if log else alt.Undefined
    axis = alt.Axis(tickCount=5, labelExpr=axes.tick_label(ticks), values=values)
    base = alt.Chart(frame).encode(
        x=axes.step_axis(),
        y=alt.Y("value:Q", title=unit, scale=scale, axis=axis),
        color=_colour(names, fields),
        detail=alt.Detail("run:N"),
        tooltip=forms.tips("run", "what", step=("", ","), value=("", ".4~g")),
    )
    if len(quantities) == 1:
        # a line through a single value would be invisible
        few = len(frame) <= MAX_DOTS * len(runs)
        points = alt.OverlayMarkDef(size=28, filled=True) if few else False
        layers = [base.mark_line(strokeWidth=WIDTHS[0], point=points)]
    else:
        legend = axes.legend_below(orient="top", columns=2, symbolSize=400)
        widths, dashes = (alt.Scale(domain=quantities, range=list(r)) for r in (WIDTHS, DASHES))
        line = base.mark_line(point=False).encode(
            strokeWidth=alt.StrokeWidth("what:N", scale=widths, legend=legend),
            strokeDash=alt.StrokeDash("what:N", scale=dashes, legend=legend),
        )
        rare = base.transform_filter(alt.datum.what == quantities[1])
        layers = [line, rare.mark_point(size=28, filled=True, opacity=1)]
    # a ring around the value nearest to the pointer
    near = alt.selection_point(
        on="pointerover", nearest=True, empty=False, clear="pointerout", encodings=["x", "y"]
    )
    ring = base.mark_point(size=90, strokeWidth=2)
    seen = alt.OpacityValue(0, condition={"param": near.name, "empty": False, "value": 1})
    layers += [ring.encode(opacity=seen).add_params(near)]
    # room for the legends of several runs and quantities over the plot
    height += 32 + 20 * math.ceil(len(runs) / 2) if len(runs) > 1 else 0
    height += 32 if len(fields) > 1 else 0
    return alt.LayerChart(layer=[*below, *layers]).properties(height=height)


def learning_rate_chart(runs: Mapping[str, Sequence[Record]]) -> alt.LayerChart:
    """Draw the rate that each run used over the rate planned by equation 3 of §5.3."""
    frame = pd.concat([_planned(name, records) for name, records in runs.items()])
    planned = (
        alt.Chart(frame)
        .mark_line(strokeDash=[5, 4], strokeWidth=4, opacity=0.5, color=axes.GREY)
        .encode(x=alt.X("step:Q"), y=alt.Y("value:Q"), detail=alt.Detail("run:N"))
    )
    return run_chart(runs, {"lr": "used"}, unit="learning rate", below=[planned])


def values_left_out(runs: Mapping[str, Sequence[Record]]) -> bool:
    """Return whether a run has more values of a quantity than are drawn."""
    return any(
        count > MAX_VALUES
        for records in runs.values()
        for name, count in Counter(name for record in records for name in record).items()
        if name not in ("step", "epoch")
    )


def _planned(name: str, records: Sequence[Record]) -> pd.DataFrame:
    """Compute equation 3 at the logged steps; empty where the log lacks the schedule."""
    rows = []
    plan: Mapping[str, Any] = {}
    for record in records:
        if record.keys() >= PLAN:
            plan = record
        elif "lr" in record and plan:
            step = int(record["step"])
            left = cooldown_left(step, plan["steps"], plan["cooldown"])
            rate = learning_rate(step, plan["d_model"], plan["warmup"], plan["lr_factor"], left)
            rows.append((name, step, rate))
    return pd.DataFrame(_thinned(rows), columns=["run", "step", "value"])


def _thinned(rows: list[Any]) -> list[Any]:
    """Return all rows, or evenly spaced ones with the last among them."""
    every = math.ceil(len(rows) / MAX_VALUES)
    return rows[::-1][::every][::-1] if every > 1 else rows


def _colour(names: list[str], fields: Mapping[str, str]) -> alt.Color:
    if len(names) > 1:
        # above the curves, two names in a row: a name can be the path of a folder
        legend = axes.legend_below(orient="top", columns=2, symbolOpacity=1)
        colors = [COLORS[n % len(COLORS)] for n in range(len(names))]
        return alt.Color("run:N", scale=alt.Scale(domain=names, range=colors), legend=legend)
    key = axes.legend_below(orient="top", columns=2, symbolSize=400) if len(fields) > 1 else None
    colors = [COLORS[int(field.startswith("validation"))] for field in fields]
    scale = alt.Scale(domain=list(fields.values()), range=colors)
    return alt.Color("what:N", scale=scale, legend=key)
