"""Small charts of heads, one cell for each, and the clicks in them that open a head."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from transformer.analysis.heads.head import Head
from transformer.arrays import AnyFloats
from transformer.kinds import Kind
from viz.draw.palette import COLOR
from viz.figures.axes import GREY, OLIVE, PURPLE
from viz.figures.forms import TEXT, tips
from viz.figures.head_cells import head_cells


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


def signs(values: AnyFloats) -> list[str]:
    """Return `for` or `against` for each value, by its sign."""
    return ["for" if value >= 0 else "against" for value in values]


def heads_by_value(values: Mapping[Kind, AnyFloats]) -> list[tuple[Head, float]]:
    """Return every head with its value, of `[layer, head]` of each kind, the largest first."""
    heads = [
        (Head(kind, *map(int, place)), float(array[place]))
        for kind, array in values.items()
        for place in np.ndindex(array.shape)
    ]
    return sorted(heads, key=lambda pair: -pair[1])


def heads_chart(
    kind: Kind, values: AnyFloats, maximum: float, measure: str, *, opened: Head | None = None
) -> alt.LayerChart:
    """Draw the heads of one kind, `[layer, head]`; if one is `opened`, a click selects `PICKED`."""
    places = [Head(kind, *at) for at in np.ndindex(values.shape)]
    numbers = values.ravel().astype(float)
    table = pd.DataFrame([place[1:] for place in places], columns=["layer", "head"]).assign(
        name=[place.title for place in places],
        value=numbers,
        opacity=np.minimum(np.abs(numbers) / max(maximum, TINY), 1.0),
        color=np.where(numbers >= 0, PURPLE, OLIVE),
    )
    if opened is not None:
        table["opened"] = [place == opened for place in places]
    tooltip = tips(name=("head", TEXT), value=(measure, "+.3f"))
    return head_cells(table, alt.Step(26), tooltip, stroke=GREY, strokeOpacity=0.35, strokeWidth=1)
