"""Learned positions beside the sinusoids (Table 3, row E)."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz.figures.axes import curve_color
from viz.figures.colors import GREY
from viz.figures.signed_maps import axis_title, maps, signed_map

Floats = NDArray[np.floating]


def cosine_maps(cosines: Mapping[str, Floats]) -> go.Figure:
    """How alike each two positions of each table are, side by side, on one scale from -1 to 1.

    Args:
        cosines: `[position, position]`, by the name of the table.
    """
    title = axis_title("position", max(map(len, cosines.values())))
    hover = "positions %{y} and %{x}<br>cosine %{z:.3f}"
    return maps(
        {name: signed_map(values, 1, hover=hover) for name, values in cosines.items()},
        across={"title": title},
        down={"title": title},
        height=440,
    )


def neighbours_chart(cosines: Mapping[str, Floats], chance: float) -> alt.LayerChart:
    """How alike each position and the next are, and how alike two rows of a random start would be.

    Args:
        cosines: `[position]`, of the row with the next one, by the name of the table.
        chance: the standard deviation of the cosine of two random rows; a band of two is drawn.
    """
    names = list(cosines)
    table = pd.concat(
        pd.DataFrame({"table": name, "position": range(len(values)), "cosine": values})
        for name, values in cosines.items()
    )
    x = alt.X("position:Q", axis=alt.Axis(grid=False, tickMinStep=1, tickCount=6))
    y = alt.Y("cosine:Q", title="cosine, p and p + 1")
    lines = (
        alt.Chart(table, height=250)
        .mark_line(strokeWidth=1.5)
        .encode(
            x,
            y,
            curve_color("table", names, columns=len(names)),
            tooltip=["table:N", "position:Q", alt.Tooltip("cosine:Q", format=".3f")],
        )
    )
    band = (
        alt.Chart(pd.DataFrame({"low": [-2 * chance], "high": [2 * chance]}))
        .mark_rect(color=GREY, opacity=0.25)
        .encode(y=alt.Y("low:Q", title="cosine, p and p + 1"), y2="high:Q")
    )
    return band + lines
