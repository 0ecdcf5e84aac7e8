"""The map of the model: one table for each kind, one cell for each head, coloured by a measure.

Small values are pale and large ones deep, in the hue of the kind; signed measures are olive below 0
and purple above. The scale is one of opacity, so that pale also means little on a dark page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from transformer import Kind
from transformer.analysis.heads.head import Head
from transformer.kinds import KIND_TITLES
from viz.draw.labels import head_name
from viz.draw.palette import COLOR
from viz.figures.colors import INK, OLIVE, PURPLE
from viz.pages.roles.clicked_head import PICKED

PALEST, DEEPEST = 0.05, 0.6
"""Opacity at 0 and at the largest value; text in the page's ink is readable on both."""

_FAINT = 0.68  # opacity of secondary text that is still readable
_ROW, _TOP = 26, 28  # CSS pixels: height of a layer, and of the labels above the first


@dataclass(frozen=True)
class Cell:
    """One head on the map.

    Args:
        head: the head.
        value: share of the deepest colour, 0 to 1, or -1 to 1 for signed measures; None where there
            is none.
        text: text of the cell.
        description: text of the tooltip, and of the table for screen readers.
        faint: whether the text is drawn as secondary.
    """

    head: Head
    value: float | None
    text: str
    description: str
    faint: bool = False


def kind_chart(cells: Sequence[Cell], kind: Kind, opened: Head, *, signed: bool) -> alt.LayerChart:
    """Draw the heads of one kind, layers down and heads across; a click selects `PICKED`.

    Args:
        cells: the heads of this kind.
        kind: kind of attention, which gives the hue.
        opened: the open head, which is outlined.
        signed: whether the measure has values below 0.
    """
    table = pd.DataFrame(
        {
            "layer": [cell.head.layer for cell in cells],
            "head": [cell.head.head for cell in cells],
            "name": [head_name(*cell.head[1:]) for cell in cells],
            "text": [cell.text for cell in cells],
            "description": [cell.description for cell in cells],
            "opacity": [_opacity(cell.value) for cell in cells],
            "color": [_color(cell.value, kind, signed) for cell in cells],
            "ink": [_FAINT if cell.faint else 1.0 for cell in cells],
            "opened": [cell.head == opened for cell in cells],
        }
    )
    plain: dict[str, Any] = {
        "domain": False,
        "ticks": False,
        "grid": False,
        "labelAngle": 0,
        "labelPadding": 6,
    }
    x = alt.X(
        "head:O",
        title=None,
        axis=alt.Axis(orient="top", labelExpr="'H' + (datum.value + 1)", **plain),
        scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03),
    )
    y = alt.Y(
        "layer:O",
        title=None,
        axis=alt.Axis(labelExpr="'L' + (datum.value + 1)", **plain),
        scale=alt.Scale(paddingInner=0.08, paddingOuter=0.04),
    )
    tooltip = [alt.Tooltip("name:N", title="head"), alt.Tooltip("description:N", title="measured")]
    base = alt.Chart(table, height=_TOP + _ROW * int(table["layer"].nunique())).encode(x, y)
    color = alt.Color("color:N", scale=None)
    cell = (
        base.mark_rect(cornerRadius=2, cursor="pointer", aria=False)
        .encode(color, opacity=alt.Opacity("opacity:Q", scale=None), tooltip=tooltip)
        .add_params(alt.selection_point(name=PICKED, fields=["layer", "head"]))
    )
    text = base.mark_text(color=INK, fontSize=12, cursor="pointer", aria=False).encode(
        text="text:N", opacity=alt.Opacity("ink:Q", scale=None), tooltip=tooltip
    )
    outline = (
        base.transform_filter("datum.opened")
        .mark_rect(filled=False, stroke=INK, strokeWidth=2, cornerRadius=2, aria=False)
        .encode()
    )
    return cell + outline + text


def spoken_table(cells: Sequence[Cell], kind: Kind, quantity: str) -> str:
    """Format the cells as an HTML table that only screen readers get."""
    layers = sorted({cell.head.layer for cell in cells})
    heads = sorted({cell.head.head for cell in cells})
    descriptions = {cell.head[1:]: escape(cell.description) for cell in cells}
    top = "".join(f'<th scope="col">head {head + 1}</th>' for head in heads)
    rows = "".join(
        f'<tr><th scope="row">layer {layer + 1}</th>'
        + "".join(f"<td>{descriptions.get((layer, head), '')}</td>" for head in heads)
        + "</tr>"
        for layer in layers
    )
    caption = escape(f"{KIND_TITLES[kind]}: {quantity} of each head")
    return (
        f'<div class="headlight-unseen"><table><caption>{caption}</caption>'
        f"<thead><tr><td></td>{top}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _opacity(value: float | None) -> float:
    if value is None:
        return 0.0
    return float(PALEST + (DEEPEST - PALEST) * np.clip(abs(value), 0, 1))


def _color(value: float | None, kind: Kind, signed: bool) -> str:
    if not signed:
        return COLOR[kind]
    return OLIVE if (value or 0) < 0 else PURPLE
