"""What the axes and legends of the charts have in common."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from typing import Any

import altair as alt

from viz.figures.colors import curve_colors


def tick_label(number: str) -> str:
    """Vega expression of the word at a tick: 0 is written without its neighbours' prefix or power.

    Args:
        number: d3 format of the others.
    """
    return f"datum.value == 0 ? '0' : format(datum.value, '{number}')"


def log_ticks(values: Collection[float]) -> Any:
    """Where a logarithmic axis of these values has ticks: at 1, 2 and 5 of each decade.

    Left to Vega where fewer than three of them lie between the values: it has a line for each of
    1 to 9, most without a number, but cuts narrow ranges well.
    """
    drawn = [value for value in values if 0 < value < math.inf]
    low, high = min(drawn, default=1.0), max(drawn, default=1.0)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
    between = [tick for tick in ticks if low <= tick <= high]
    return between if len(between) > 2 else alt.Undefined


def log_labels(ticks: Collection[float], number: str) -> str:
    """Vega expression of the words at the ticks of `log_ticks`.

    Powers of ten alone have one where three of them are among the ticks: 1, 10, 100.

    Args:
        ticks: where they stand.
        number: d3 format.
    """
    powers = [tick for tick in ticks if math.log10(tick).is_integer()]
    if len(powers) < 3:
        return tick_label(number)
    power = "log(datum.value) / LN10"
    return f"abs({power} - round({power})) < 1e-9 ? {tick_label(number)} : ''"


def step_axis(scale: Any = alt.Undefined, **more: Any) -> alt.X:
    """The horizontal axis of what happens step by step.

    Args:
        scale: an `alt.Scale`, or left to Vega.
        more: settings of `alt.Axis` that differ or come on top.
    """
    settings: dict[str, Any] = {"grid": False, "tickCount": 6, "labelExpr": tick_label("~s")}
    return alt.X("step:Q", title="step", scale=scale, axis=alt.Axis(**settings | more))


ALL_WORDS = 30
"""Words up to which each has its label on an axis."""


def word_axis(words: Sequence[str], *, title: str | None = None, **more: Any) -> alt.X:
    """The horizontal axis of one word after another; the places are in the column `place`.

    Args:
        words: by their place.
        title: of the axis; none unless given.
        more: settings of `alt.Axis` that come on top.
    """
    # as data in the expression, each `<` and quote is text that Vega draws on its canvas
    labels = f"{json.dumps(list(words))}[datum.value]"
    settings: dict[str, Any] = {
        "labelExpr": labels,
        "labelAngle": -45,
        "labelLimit": 110,
        "labelOverlap": len(words) > ALL_WORDS,
        "grid": False,
    }
    return alt.X("place:O", title=title, axis=alt.Axis(**settings | more))


def legend_below(**more: Any) -> alt.Legend:
    """A legend under its chart, an entry a line, each a short stroke in the colour of its curve.

    Args:
        more: settings of `alt.Legend` that differ or come on top.
    """
    settings: dict[str, Any] = {
        "title": None,
        "orient": "bottom",
        "labelLimit": 400,
        "columns": 1,
        "symbolType": "stroke",
        "symbolStrokeWidth": 3,
    }
    return alt.Legend(**settings | more)


def curve_color(
    field: str, names: Sequence[str], colors: Sequence[str] | None = None, **legend: Any
) -> alt.Color:
    """A colour for each curve, by its name in a column, with the names in a legend below.

    Args:
        field: the column.
        names: in the order of the legend.
        colors: at least as many; those of all charts unless given.
        legend: settings of `alt.Legend` that differ from `legend_below`.
    """
    chosen = list(colors or curve_colors(len(names)))[: len(names)]
    scale = alt.Scale(domain=list(names), range=chosen)
    return alt.Color(f"{field}:N", scale=scale, legend=legend_below(**legend))
