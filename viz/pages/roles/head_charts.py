"""Small charts of heads, one cell for each, and the clicks in them that open a head."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from transformer.analysis.heads.head import Head
from transformer.kinds import Kind
from viz.draw.labels import head_title
from viz.draw.palette import COLOR
from viz.figures.axes import GREY, INK, OLIVE, PURPLE, bare_axis
from viz.figures.forms import TEXT, tips
from viz.figures.head_scatter import PICKED

Floats = npt.NDArray[np.floating]


def kind_title(kind: Kind, text: str) -> str:
    """Return a trusted text on a kind, in HTML after a dot in its colour."""
    return f'<div><span aria-hidden="true" style="color: {COLOR[kind]}">●</span> {text}</div>'


def grid_key(name: str, kind: Kind, opened: Head) -> str:
    """Return the key of the grid of a kind, another one for each of its heads that is open."""
    return f"{name}-{kind}-{f'{opened.layer}.{opened.head}' if opened.kind == kind else ''}"


TINY = 1e-9  # keeps a division by the largest value finite

SIGN_COLOR = alt.Color(
    "sign:N", scale=alt.Scale(domain=["for", "against"], range=[PURPLE, OLIVE]), legend=None
)
"""Colour by sign: purple above 0, olive below."""


def signs(values: Floats) -> list[str]:
    """Return `for` or `against` for each value, by its sign."""
    return ["for" if value >= 0 else "against" for value in values]


def heads_by_value(values: Mapping[Kind, Floats]) -> list[tuple[Head, float]]:
    """Return every head with its value, of `[layer, head]` of each kind, the largest first."""
    heads = [
        (Head(kind, *map(int, place)), float(array[place]))
        for kind, array in values.items()
        for place in np.ndindex(array.shape)
    ]
    return sorted(heads, key=lambda pair: -pair[1])


def heads_chart(
    kind: Kind, values: Floats, maximum: float, measure: str, *, opened: Head | None = None
) -> alt.Chart | alt.LayerChart:
    """Draw the heads of one kind, `[layer, head]`; if one is `opened`, a click selects `PICKED`."""
    places = list(np.ndindex(values.shape))
    numbers = values.ravel().astype(float)
    frame = pd.DataFrame(places, columns=["layer", "head"]).assign(
        name=[head_title(kind, *at) for at in places],
        value=numbers,
        strength=np.abs(numbers),
        sign=signs(numbers),
    )
    axis: dict[str, Any] = {"labelAngle": 0, "labelExpr": "datum.value + 1"}
    x = alt.X("head:O", title="head", axis=bare_axis(orient="top", **axis))
    y = alt.Y("layer:O", title="layer", axis=bare_axis(**axis))
    scale = alt.Scale(domain=[0, max(maximum, TINY)], range=[0, 1], clamp=True)
    strength = alt.FillOpacity("strength:Q", scale=scale, legend=None)
    tooltip = tips(name=("head", TEXT), value=(measure, "+.3f"))
    cursor: Any = alt.Undefined if opened is None else "pointer"
    squares = alt.Chart(frame, height={"step": 26}).mark_rect(
        stroke=GREY, strokeOpacity=0.35, strokeWidth=1, cursor=cursor
    )
    cells = squares.encode(x, y, SIGN_COLOR, strength, tooltip=tooltip)
    if opened is None:
        return cells
    cells = cells.add_params(alt.selection_point(name=PICKED, fields=["layer", "head"]))
    if opened.kind != kind:
        return cells
    opened_cell = pd.DataFrame([opened[1:]], columns=["layer", "head"])
    outline = alt.Chart(opened_cell).mark_rect(filled=False, stroke=INK, strokeWidth=2.5)
    return cells + outline.encode(x, y)
