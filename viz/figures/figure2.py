"""Figure 2 of the paper with the matrices of a sentence in its boxes, read from the foot up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viz.draw.formatting import format_number
from viz.draw.wire import block_means, block_size
from viz.figures.axes import GREY, INK, OLIVE, PURPLE
from viz.figures.forms import tips
from viz.figures.head_scatter import PICKED

Place = tuple[float, float, float, float]
"""Left and right as shares of the width, top and foot in CSS pixels from the top."""

MAX_ROWS, MAX_COLUMNS = 20, 40  # cells of a matrix, at most; else several values share one
WORDS = 0.36  # share of a box for the words at its left
LINE = 20  # height of a line of words over a matrix, CSS pixels
PLACE = ("x", "x2", "y", "y2")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One box, with the matrix that leaves it."""

    place: Place
    title: str
    about: str = ""  # a shape or a formula
    values: NDArray[np.floating] | None = None  # `[row, column]`, −∞ where masked
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    color: str = ""  # of values from 0 to 1; signed ones are olive and purple
    name: str = ""  # that a click selects, in the field `name` of `PICKED`
    above: bool = False  # whether its words are over the matrix
    outlined: bool = False
    part: tuple[int, int] | None = None  # outlined in the matrix: this one of so many

    @property
    def inner(self) -> Place:
        """Place of the matrix."""
        left, right, top, foot = self.place
        if self.above:
            return left, right, top + LINE, foot
        return left + WORDS * (right - left), right, top, foot


def drawing(
    panels: Sequence[Panel], arrows: Sequence[tuple[float, float, float]], height: int
) -> alt.LayerChart:
    """Draw boxes, their matrices, and arrows: where across, from where up to where."""
    scale_x, scale_y = alt.Scale(domain=[0, 1]), alt.Scale(domain=[0, height], reverse=True)
    x, y = alt.X("x:Q", scale=scale_x, axis=None), alt.Y("y:Q", scale=scale_y, axis=None)
    corners = {"x": x, "x2": alt.X2("x2:Q"), "y": y, "y2": alt.Y2("y2:Q")}
    opacity = alt.Opacity("opacity:Q", scale=None)
    boxes = [(*panel.place, panel.name, 0.25 + 0.75 * panel.outlined) for panel in panels]
    parts = [_part(panel.inner, *panel.part) for panel in panels if panel.part]
    cells, lines, texts, frames, outlines = (
        alt.Chart(pd.DataFrame(list(rows), columns=[*columns]), height=height)
        for rows, columns in (
            ((cell for panel in panels for cell in _cells(panel)),
             (*PLACE, "name", "color", "opacity", "row", "column", "value")),
            (arrows, ("x", "y", "y2")),
            ((word for panel in panels for word in _words(panel)),
             ("x", "y", "text", "weight", "align", "room")),
            (boxes, (*PLACE, "name", "opacity")),
            (parts, PLACE),
        )
    )  # fmt: skip
    layers = [
        lines.mark_rule(color=INK, opacity=0.6).encode(x, y, y2="y2:Q"),
        lines.mark_point(shape="triangle-up", filled=True, color=INK, opacity=0.8, yOffset=5)
        .encode(x, alt.Y("y2:Q", scale=scale_y, axis=None)),
        frames.mark_rect(fill=GREY, fillOpacity=0.06, stroke=INK, cornerRadius=5)
        .encode(**corners, strokeOpacity=alt.StrokeOpacity("opacity:Q", scale=None))
        .add_params(alt.selection_point(name=PICKED, fields=["name"])),
        cells.mark_rect(aria=False, cursor="pointer").encode(
            **corners, color=alt.Color("color:N", scale=None), opacity=opacity,
            tooltip=tips("row", "column", "value"),
        ),
        outlines.mark_rect(filled=False, stroke=INK, strokeWidth=1.5).encode(**corners),
        texts.mark_text(
            color=INK, fontSize=alt.expr("width < 420 ? 10.5 : 12.5"), aria=False,
            fontWeight=alt.expr("datum.weight"), align=alt.expr("datum.align"),
            dx=alt.expr("datum.align == 'left' ? 6 : -6"), limit=alt.expr("datum.room * width - 9"),
        ).encode(x, y, text="text:N"),
    ]  # fmt: skip
    # Streamlit would draw so many squares on a canvas, which knows no `INK`
    return alt.LayerChart(layer=layers, usermeta={"embedOptions": {"renderer": "svg"}})


def _part(place: Place, part: int, parts: int) -> Place:
    left, right, top, foot = place
    width = (right - left) / parts
    return left + part * width, left + (part + 1) * width, top, foot


def _words(panel: Panel) -> Iterator[tuple[object, ...]]:
    left, right, top, foot = panel.place
    if panel.above:
        yield left, top + LINE / 2, panel.title, 600, "left", right - left
        yield right, top + LINE / 2, panel.about, 400, "right", (right - left) / 2
        return
    middle, room = (top + foot) / 2, (WORDS if panel.values is not None else 1) * (right - left)
    yield left, middle - 9 * bool(panel.about), panel.title, 600, "left", room
    yield left, middle + 9, panel.about, 400, "left", room


def _cells(panel: Panel) -> Iterator[tuple[object, ...]]:
    if panel.values is None:
        return
    values = np.asarray(panel.values, dtype=np.float64)
    sizes = (
        block_size(values.shape[0], MAX_ROWS), block_size(values.shape[1], MAX_COLUMNS)
    )  # fmt: skip
    seen = block_means(np.isfinite(values).astype(np.float64), sizes)
    means = block_means(np.where(np.isfinite(values), values, 0), sizes) / np.maximum(seen, 1e-9)
    end = 1.0 if panel.color else float(np.abs(means).max()) or 1.0
    left, right, top, foot = panel.inner
    rows, columns = (
        [f"{names[n]} … {names[min(n + size, len(names)) - 1]}" if size > 1 else names[n]
         for n in range(0, len(names), size)]
        for names, size in zip((panel.rows, panel.columns), sizes, strict=True)
    )  # fmt: skip
    across, down = np.linspace(left, right, len(columns) + 1), np.linspace(top, foot, len(rows) + 1)
    mean = f" (mean of {sizes[0]} × {sizes[1]})" if max(sizes) > 1 else ""
    for (n, m), value in np.ndenumerate(means):
        if seen[n, m]:
            ink, text = panel.color or (PURPLE if value > 0 else OLIVE), format_number(value, 3)
            strength = min(abs(value) / end, 1.0)
        else:
            ink, text, strength = GREY, "−∞", 0.35
        place = (across[m], across[m + 1], down[n], down[n + 1])
        yield *place, panel.name, ink, strength, rows[n], columns[m], text + mean * (text != "−∞")
