"""Charts of a contrast between two pieces: source pieces as bars, heads as small tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from transformer.kinds import Kind
from viz.draw.labels import head_title
from viz.figures.axes import tick_label
from viz.figures.colors import GREY, INK, OLIVE, PURPLE
from viz.pages.roles.clicked_head import PICKED

Floats = npt.NDArray[np.floating]

MOST_ROWS = 40
"""Bars of a chart; of more pieces, the strongest are drawn."""

_ROW = 22  # CSS pixels
_CELL = 26
_TINY = 1e-9  # keeps a division by the largest value finite

_SIGN = alt.Color(
    "sign:N", scale=alt.Scale(domain=["for", "against"], range=[PURPLE, OLIVE]), legend=None
)
"""Colour by sign: purple above 0, olive below."""


def signs(values: Floats) -> list[str]:
    """Return `for` or `against` for each value, by its sign."""
    return ["for" if value >= 0 else "against" for value in values]


def strongest(*measures: Floats) -> list[int]:
    """Select the places where any measure is relatively largest, in their order.

    Args:
        measures: one or more arrays `[place]`.
    """
    shares = [np.abs(values) / max(float(np.abs(values).max()), _TINY) for values in measures]
    places = np.argsort(-np.max(shares, axis=0), kind="stable")[:MOST_ROWS]
    return sorted(places.tolist())


def pieces_chart(
    names: Sequence[str],
    values: Floats,
    title: str,
    *,
    places: Sequence[int],
    marked: Sequence[bool] | None = None,
    more: dict[str, Floats] | None = None,
) -> alt.LayerChart:
    """Draw signed bars, one for each piece.

    Args:
        names: `[place]`, text of the pieces on the screen.
        values: `[place]`, in nats.
        title: title of the axis.
        places: places that are drawn, in this order.
        marked: `[place]`, whether a ≠ stands after the bar.
        more: arrays `[place]` that the tooltip shows too, by their name.
    """
    more = more or {}
    marks = [False] * len(names) if marked is None else marked
    frame = pd.DataFrame(
        {
            "place": list(places),
            "piece": [names[n] for n in places],
            "value": [float(values[n]) for n in places],
            "sign": signs(values[list(places)]),
            "mark": ["≠" if marks[n] else "" for n in places],
            **{name: [float(column[n]) for n in places] for name, column in more.items()},
        }
    )
    # as data in the expression, each `<` and quote is text that Vega draws on its canvas
    labels = f"{json.dumps(dict(zip(map(str, places), frame['piece'], strict=True)))}[datum.value]"
    y = alt.Y(
        "place:O",
        title=None,
        axis=alt.Axis(labelExpr=labels, labelLimit=110, grid=False, ticks=False, domain=False),
    )
    maximum = max(float(frame["value"].abs().max()), 0.01)
    x = alt.X(
        "value:Q",
        title=title,
        # space for the mark after the longest bar
        scale=alt.Scale(domain=[-1.12 * maximum, 1.12 * maximum], nice=False),
        axis=alt.Axis(labelExpr=tick_label("+"), tickCount=5),
    )
    tooltip = [
        "piece:N",
        alt.Tooltip("value:Q", title=title, format="+.3f"),
        *(alt.Tooltip(f"{name}:Q", format=".3f") for name in more),
    ]
    base = alt.Chart(frame, height={"step": _ROW})
    bars = base.mark_bar(height=_ROW - 8).encode(x, y, _SIGN, tooltip=tooltip)
    zero = alt.Chart(pd.DataFrame({"value": [0]})).mark_rule(color=GREY).encode(x=x)
    right = base.transform_filter("datum.value >= 0").mark_text(
        color=INK, fontSize=14, align="left", dx=4
    )
    left = base.transform_filter("datum.value < 0").mark_text(
        color=INK, fontSize=14, align="right", dx=-4
    )
    layered = zero + bars
    for mark in (right, left):
        layered += mark.encode(x, y, text="mark:N")
    return layered


def heads_chart(
    kind: Kind,
    values: Floats,
    maximum: float,
    measure: str,
    *,
    opened: tuple[int, int] | None = None,
    clickable: bool = False,
) -> alt.Chart | alt.LayerChart:
    """Draw the heads of one kind, layers down: purple above 0, olive below.

    Args:
        kind: kind of attention.
        values: `[layer, head]`.
        maximum: value of the full colour.
        measure: name of the values in the tooltip.
        opened: layer and head of the outlined head, from 0; None without one.
        clickable: whether a click on a head selects `PICKED`.
    """
    places = list(np.ndindex(values.shape))
    frame = pd.DataFrame(
        {
            "layer": [layer for layer, _ in places],
            "head": [head for _, head in places],
            "name": [head_title(kind, *at) for at in places],
            "value": [float(values[at]) for at in places],
            "strength": [abs(float(values[at])) for at in places],
            "sign": signs(values.ravel()),
        }
    )
    axis: dict[str, Any] = {
        "grid": False,
        "ticks": False,
        "domain": False,
        "labelAngle": 0,
        "labelExpr": "datum.value + 1",
    }
    x = alt.X("head:O", title="head", axis=alt.Axis(orient="top", **axis))
    y = alt.Y("layer:O", title="layer", axis=alt.Axis(**axis))
    cells = (
        alt.Chart(frame, height={"step": _CELL})
        .mark_rect(
            stroke=GREY,
            strokeOpacity=0.35,
            strokeWidth=1,
            cursor="pointer" if clickable else alt.Undefined,
        )
        .encode(
            x,
            y,
            _SIGN,
            fillOpacity=alt.FillOpacity(
                "strength:Q",
                scale=alt.Scale(domain=[0, max(maximum, _TINY)], range=[0, 1], clamp=True),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("name:N", title="head"),
                alt.Tooltip("value:Q", title=measure, format="+.3f"),
            ],
        )
    )
    if clickable:
        cells = cells.add_params(alt.selection_point(name=PICKED, fields=["layer", "head"]))
    if opened is None:
        return cells
    opened_cell = pd.DataFrame({"layer": [opened[0]], "head": [opened[1]]})
    outline = alt.Chart(opened_cell).mark_rect(filled=False, stroke=INK, strokeWidth=2.5)
    return cells + outline.encode(x, y)
