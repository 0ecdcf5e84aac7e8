"""What speaks for one piece and against another: source pieces as bars, heads as small tables."""

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
"""Bars of a chart; of more, the strongest are drawn."""

_ROW = 22  # CSS pixels
_CELL = 26
_EVEN = 1e-9


_SIGN = alt.Color(
    "sign:N", scale=alt.Scale(domain=["for", "against"], range=[PURPLE, OLIVE]), legend=None
)
"""Purple for what is above 0, olive for what is below."""


def signs(values: Floats) -> list[str]:
    """`for` or `against`, which a bar is coloured by."""
    return ["for" if value >= 0 else "against" for value in values]


def strongest(*measures: Floats) -> list[int]:
    """Which places to draw, in their order: those where any measure is largest beside its most.

    Args:
        measures: `[place]` each.
    """
    shares = [np.abs(values) / max(float(np.abs(values).max()), _EVEN) for values in measures]
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
    """Signed bars, one for each piece.

    Args:
        names: `[place]`, as the screen shows them.
        values: `[place]`, in nats.
        title: of the axis.
        places: which are drawn, in this order.
        marked: `[place]`, these have a ≠ behind their bar.
        more: `[place]` each, what a hover says beside the value.
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
            **{name: [float(of[n]) for n in places] for name, of in more.items()},
        }
    )
    # as data in the expression, each `<` and quote is text that Vega draws on its canvas
    labels = f"{json.dumps(dict(zip(map(str, places), frame['piece'], strict=True)))}[datum.value]"
    y = alt.Y(
        "place:O",
        title=None,
        axis=alt.Axis(labelExpr=labels, labelLimit=110, grid=False, ticks=False, domain=False),
    )
    most = max(float(frame["value"].abs().max()), 0.01)
    x = alt.X(
        "value:Q",
        title=title,
        # room for the mark behind the longest bar
        scale=alt.Scale(domain=[-1.12 * most, 1.12 * most], nice=False),
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
    for behind in (right, left):
        layered += behind.encode(x, y, text="mark:N")
    return layered


def heads_chart(
    kind: Kind,
    values: Floats,
    most: float,
    measure: str,
    *,
    opened: tuple[int, int] | None = None,
    clickable: bool = False,
) -> alt.Chart | alt.LayerChart:
    """The heads of one kind, layers down: purple above 0, olive below; the open one is outlined.

    Args:
        values: `[layer, head]`.
        most: gets the full colour.
        measure: what the values are, for a hover.
        opened: layer and head, from 0; None where none of this kind is open.
        clickable: whether a click on a head is told to the page, as `PICKED`.
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
                scale=alt.Scale(domain=[0, max(most, _EVEN)], range=[0, 1], clamp=True),
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
    at = pd.DataFrame({"layer": [opened[0]], "head": [opened[1]]})
    outline = alt.Chart(at).mark_rect(filled=False, stroke=INK, strokeWidth=2.5)
    return cells + outline.encode(x, y)
