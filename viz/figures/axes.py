"""What the axes and legends of the charts have in common."""

from __future__ import annotations

from typing import Any

import altair as alt


def label(number: str) -> str:
    """Vega expression of the word at a tick: 0 is written without its neighbours' prefix or power.

    Args:
        number: d3 format of the others.
    """
    return f"datum.value == 0 ? '0' : format(datum.value, '{number}')"


def step_axis(scale: Any = alt.Undefined, **more: Any) -> alt.X:
    """The horizontal axis of what happens step by step.

    Args:
        scale: an `alt.Scale`, or left to Vega.
        more: settings of `alt.Axis` that come on top.
    """
    axis = alt.Axis(grid=False, tickCount=6, labelExpr=label("~s"), **more)
    return alt.X("step:Q", title="step", scale=scale, axis=axis)


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
