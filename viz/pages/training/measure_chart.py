"""Chart of a measure of every head of one kind over the steps of a training run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viz.draw.labels import head_name
from viz.draw.palette import COLOR
from viz.figures.axes import step_axis
from viz.figures.colors import GREY

if TYPE_CHECKING:
    from transformer.kinds import Kind

HEIGHT = 260  # CSS pixels


def measure_chart(
    steps: Sequence[int],
    values: NDArray[np.float64],
    *,
    kind: Kind,
    selected: tuple[int, int],
    marked: int,
    unit: str,
) -> alt.LayerChart:
    """Draw one line for each head, the open one in the colour of its kind.

    Args:
        steps: training steps, from 1, on a logarithmic axis, as heads form early.
        values: `[step, layer, head]`.
        kind: kind of attention, which gives the colour.
        selected: layer and head of the open head, from 0.
        marked: the marked step.
        unit: title of the vertical axis.
    """
    step, layer, head = (axis.ravel() for axis in np.indices(values.shape))
    frame = pd.DataFrame(
        {
            "step": np.asarray(steps)[step],
            "head": [head_name(int(n), int(m)) for n, m in zip(layer, head, strict=True)],
            "value": values.ravel(),
            "selected": (layer == selected[0]) & (head == selected[1]),
        }
    )
    x = step_axis(alt.Scale(type="log", nice=False), values=[10**n for n in range(8)])
    base = alt.Chart(frame, height=HEIGHT).encode(
        x,
        alt.Y("value:Q", title=unit, axis=alt.Axis(tickCount=5, format="~g")),
        detail="head:N",
        tooltip=[
            alt.Tooltip("head:N"),
            alt.Tooltip("step:Q", format=","),
            alt.Tooltip("value:Q", title=unit, format=".3f"),
        ],
    )
    others = base.transform_filter("!datum.selected").mark_line(
        color=GREY, strokeWidth=1, opacity=0.6
    )
    opened = base.transform_filter("datum.selected").mark_line(
        color=COLOR[kind],
        strokeWidth=3,
        point=alt.OverlayMarkDef(size=30, filled=True, color=COLOR[kind]),
    )
    rule = (
        alt.Chart(pd.DataFrame({"step": [marked]}))
        .mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x)
    )
    return others + rule + opened
