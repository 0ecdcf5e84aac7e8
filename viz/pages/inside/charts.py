"""Charts of the scale of dot products: saturation of the softmax, variance of q·k (§3.2.1)."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from viz.figures.axes import curve_color
from viz.figures.colors import GREY, INK

Floats = npt.NDArray[np.float64]

MEASURES = ("largest weight", "entropy, of its most", "gradient, its norm")
"""Measures of a row of the softmax, in the order of the curves."""
VARIANCES = (
    "predicted: the width itself",
    "drawn from N(0, 1)",
    "this head, measured",
    "this head, as if independent",
)
"""The curves of the variance of q·k, in the order of their colours."""
_DECADES = (-2, 2)
_PLOT, _LEGEND_LINE = 260, 28  # CSS pixels of the plot, and of a line of its legend


def factors() -> Floats:
    """Return the factors of q·k along the axis of `saturation_chart`, `[scale]`."""
    return np.geomspace(10.0 ** _DECADES[0], 10.0 ** _DECADES[1], 81)


def saturation_chart(
    scales: Floats,
    largest: Floats,
    entropy: Floats,
    gradient: Floats,
    marks: Mapping[str, float],
) -> alt.LayerChart:
    """Draw the softmax of one row over the factor of its scores.

    Args:
        scales: `[scale]`, factors of q·k.
        largest: `[scale]`, the largest weight.
        entropy: `[scale]`, share of the largest possible entropy.
        gradient: `[scale]`, Frobenius norm of ∂α/∂s.
        marks: marked scales by name.
    """
    frame = pd.concat(
        pd.DataFrame({"measure": name, "scale": scales, "value": values})
        for name, values in zip(MEASURES, (largest, entropy, gradient), strict=True)
    )
    x = alt.X(
        "scale:Q",
        title="q · k is multiplied by",
        scale=alt.Scale(type="log", domain=[10.0 ** _DECADES[0], 10.0 ** _DECADES[1]]),
        axis=alt.Axis(grid=False, values=[0.01, 0.1, 1, 10, 100], format="~g"),
    )
    axis = alt.Axis(values=[0, 0.5, 1], format="~g")
    y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=axis)
    height = _PLOT + _LEGEND_LINE * len(MEASURES)
    lines = (
        alt.Chart(frame, height=height)
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x,
            y,
            curve_color("measure", MEASURES),
            tooltip=[
                "measure:N",
                alt.Tooltip("scale:Q", format=".3g"),
                alt.Tooltip("value:Q", format=".4f"),
            ],
        )
    )
    marked = pd.DataFrame(
        [{"name": name, "scale": scale} for name, scale in marks.items()], columns=["name", "scale"]
    )
    rules = alt.Chart(marked).mark_rule(strokeDash=[3, 3], color=GREY).encode(x, tooltip=["name:N"])
    texts = (
        alt.Chart(marked)
        .mark_text(baseline="bottom", dy=-3, color=INK)
        .encode(x, y=alt.value(0), text="name:N")
    )
    return lines + rules + texts


def variance_chart(
    width: npt.NDArray[np.int64],
    measured: Floats,
    predicted: Floats,
    gaussian_width: npt.NDArray[np.int64],
    gaussian: Floats,
) -> alt.LayerChart:
    """Draw the variance of q·k over the width of queries and keys, on logarithmic axes.

    Args:
        width: `[m]`, number of summed components of the head.
        measured: `[m]`, variance of their sum over all pairs of words.
        predicted: `[m]`, sum of the variances of the single products.
        gaussian_width: `[width]`.
        gaussian: `[width]`, measured on vectors drawn from N(0, 1).
    """
    curves = {
        VARIANCES[0]: (gaussian_width, gaussian_width.astype(np.float64)),
        VARIANCES[1]: (gaussian_width, gaussian),
        VARIANCES[2]: (width, measured),
        VARIANCES[3]: (width, predicted),
    }
    frame = pd.concat(
        pd.DataFrame({"curve": name, "width": x, "variance": y}) for name, (x, y) in curves.items()
    )
    frame = frame[frame["variance"] > 0]  # a single word has variance 0, without a logarithm
    height = _PLOT + _LEGEND_LINE * len(VARIANCES)
    chart = alt.Chart(frame, height=height).encode(
        alt.X(
            "width:Q",
            title="width of q and k",
            scale=alt.Scale(type="log", base=2),
            axis=alt.Axis(grid=False, values=[1, 4, 16, 64, 256, 1024]),
        ),
        alt.Y(
            "variance:Q",
            title="variance of q · k",
            scale=alt.Scale(type="log", nice=False),
            axis=alt.Axis(values=[10.0**n for n in range(-4, 7)], format="~g"),
        ),
        curve_color("curve", VARIANCES),
        tooltip=["curve:N", "width:Q", alt.Tooltip("variance:Q", format=".3~f")],
    )
    gaussian_only = f"datum.curve === '{VARIANCES[1]}'"
    lines = chart.transform_filter(f"!({gaussian_only})").mark_line(strokeWidth=2)
    dots = chart.transform_filter(gaussian_only).mark_point(size=40, filled=True, opacity=1)
    return lines + dots
