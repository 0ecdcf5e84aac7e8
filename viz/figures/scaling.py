"""Figures of the scale of q·k: saturation, its gradient, and the variance over the width."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from transformer.arrays import Floats, Ints
from viz.figures.axes import GREY, INK, curve_color
from viz.figures.forms import curves, long_form, tips

MEASURES = ("largest weight", "entropy (share of maximum)", "gradient norm")
"""Measures of a row of the softmax, in the order of the curves."""
VARIANCES = (
    "predicted: the width itself",
    "drawn from N(0, 1)",
    "this head, measured",
)
"""The curves of the variance of q·k, in the order of their colours."""
DECADES, FACTORS = (-2, 2), 81  # of the axis of `saturation_chart`
_PLOT, _LEGEND_LINE = 260, 28  # CSS pixels of the plot, and of a line of its legend


def saturation_chart(
    scales: Floats, measures: Sequence[Floats], marks: Mapping[str, float]
) -> alt.LayerChart:
    """Draw measures of the softmax of one row, `[scale]` each, over the factor of its scores."""
    frame = long_form("measure", "value", dict(zip(MEASURES, measures, strict=True)), scale=scales)
    scale = alt.Scale(type="log", domain=[10.0 ** DECADES[0], 10.0 ** DECADES[1]])
    axis = alt.Axis(grid=False, values=[0.01, 0.1, 1, 10, 100], format="~g")
    x = alt.X("scale:Q", title="q · k is multiplied by", scale=scale, axis=axis)
    axis = alt.Axis(values=[0, 0.5, 1], format="~g")
    y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=axis)
    chart = alt.Chart(frame, height=_PLOT + _LEGEND_LINE * len(MEASURES))
    lines = chart.mark_line(strokeWidth=2, clip=True).encode(
        x,
        y,
        curve_color("measure", MEASURES),
        tooltip=tips("measure", scale=("", ".3g"), value=("", ".4f")),
    )
    marked = alt.Chart(pd.DataFrame({"name": list(marks), "scale": list(marks.values())}))
    rules = marked.mark_rule(strokeDash=[3, 3], color=GREY)
    texts = marked.mark_text(baseline="bottom", dy=-3, color=INK)
    rules = rules.encode(x, tooltip=tips("name"))
    return lines + rules + texts.encode(x, y=alt.YValue(0), text=alt.Text("name:N"))


def variance_chart(measured: Floats, widths: Ints, gaussian: Floats) -> alt.LayerChart:
    """Draw the variance of q·k over the width of queries and keys, on logarithmic axes.

    `measured` is that of a head, `[m]` from 1; `gaussian` is drawn at some widths, `[width]`.
    """
    at = widths, widths, np.arange(1, len(measured) + 1)
    values = widths.astype(np.float64), gaussian, measured
    frame = pd.concat(
        long_form("curve", "variance", {name: variance}, width=width)
        for name, width, variance in zip(VARIANCES, at, values, strict=True)
    )
    frame = frame[frame["variance"] > 0]  # a single word has variance 0, without a logarithm
    height = _PLOT + _LEGEND_LINE * len(VARIANCES)
    across = alt.Axis(grid=False, values=[1, 4, 16, 64, 256, 1024])
    up = alt.Axis(values=[10.0**n for n in range(-4, 7)], format="~g")
    logs = alt.Scale(type="log", base=2), alt.Scale(type="log", nice=False)
    chart = alt.Chart(frame, height=height).encode(
        alt.X("width:Q", title="width of q and k", scale=logs[0], axis=across),
        alt.Y("variance:Q", title="variance of q · k", scale=logs[1], axis=up),
        curve_color("curve", VARIANCES),
        tooltip=tips("curve", width=("", ""), variance=("", ".3~f")),
    )
    gaussian_only = f"datum.curve === '{VARIANCES[1]}'"
    lines = chart.transform_filter(f"!({gaussian_only})").mark_line(strokeWidth=2)
    dots = chart.transform_filter(gaussian_only).mark_point(size=40, filled=True, opacity=1)
    return lines + dots


def gradient_chart(width: Ints, gradients: Mapping[str, Floats]) -> alt.Chart:
    """Draw the norm of the softmax's gradient, `[width]`, by the name of each function."""
    scale, ticks = alt.Scale(type="log", base=2), [1, 4, 16, 64, 256, 1024]
    return curves(
        long_form("function", "gradient", gradients, width=width),
        alt.X("width:Q", title="d_k", scale=scale, axis=alt.Axis(grid=False, values=ticks)),
        alt.Y("gradient:Q", title="mean gradient norm"),
        curve_color("function", list(gradients)),
        dots=30,
        height=_PLOT + _LEGEND_LINE * len(VARIANCES),
        tooltip=tips("function", width=("d_k", ","), gradient=("", ".4f")),
    )
