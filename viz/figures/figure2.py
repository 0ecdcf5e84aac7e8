"""Figure 2 of the paper with the matrices of a sentence in its boxes, read from the foot up."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

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

MOST = 20, 40  # rows and columns of a matrix; else several values share a square
WORDS = 0.36  # share of a box for the words at its left
LINE = 20  # height of a line of words over a matrix, CSS pixels
CORNERS = ("x", "x2", "y", "y2")


@dataclass(frozen=True)
class Panel:
    """One box, with the matrix that leaves it."""

    place: Place
    title: str
    about: str = ""  # a shape or a formula
    values: NDArray[np.floating] | None = None  # `[row, column]`, −∞ where masked, NaN at padding
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()  # numbered unless given
    name: str = ""  # that a click selects, in the field `name` of `PICKED`
    color: str = ""  # of values from 0 to 1; signed ones are olive and purple
    above: bool = False  # whether its words are over the matrix
    marks: Sequence[tuple[str, Place]] = ()  # outlines in colours, as shares of the matrix
    most: tuple[int, int] = MOST

    @property
    def inner(self) -> Place:
        """Place of the matrix."""
        left, right, top, foot = self.place
        if self.above:
            return left, right, top + LINE, foot
        return left + WORDS * (right - left), right, top, foot

    @property
    def outlines(self) -> list[tuple[object, ...]]:
        """Colour and place of each of the marks."""
        left, right, top, foot = self.inner
        wide, high = right - left, foot - top
        return [
            (color, left + x * wide, left + x2 * wide, top + y * high, top + y2 * high)
            for color, (x, x2, y, y2) in self.marks
        ]


def drawing(
    panels: Sequence[Panel], arrows: Sequence[tuple[float, ...]], height: int, opened: str = ""
) -> alt.LayerChart:
    """Draw boxes, their matrices, and arrows: where across, from where up to where.

    The box with the name `opened` has a strong outline.
    """
    scale_x, scale_y = alt.Scale(domain=[0, 1]), alt.Scale(domain=[0, height], reverse=True)
    x, y = alt.X("x:Q", scale=scale_x, axis=None), alt.Y("y:Q", scale=scale_y, axis=None)
    corners = {"x": x, "x2": alt.X2("x2:Q"), "y": y, "y2": alt.Y2("y2:Q")}
    opacity = alt.Opacity("opacity:Q", scale=None)
    tables: tuple[tuple[Iterable[tuple[object, ...]], tuple[str, ...]], ...] = (
        (
            chain.from_iterable(map(_cells, panels)),
            (*CORNERS, "name", "color", "opacity", "row", "column", "value"),
        ),
        (arrows, ("x", "y", "y2")),
        (chain.from_iterable(map(_words, panels)), ("x", "y", "text", "weight", "align", "room")),
        (
            [(*p.place, p.name, 1 if p.name and p.name == opened else 0.25) for p in panels],
            (*CORNERS, "name", "opacity"),
        ),
        (chain.from_iterable(panel.outlines for panel in panels), ("color", *CORNERS)),
    )
    cells, lines, texts, frames, outlines = (
        alt.Chart(pd.DataFrame(list(rows), columns=list(columns)), height=height)
        for rows, columns in tables
    )
    layers = [
        lines.mark_rule(color=INK, opacity=0.6, aria=False).encode(x, y, y2=alt.Y2("y2:Q")),
        lines.mark_point(
            shape="triangle-up", filled=True, color=INK, opacity=0.8, yOffset=5, aria=False
        )
        .encode(x, alt.Y("y2:Q", scale=scale_y, axis=None)),
        frames.mark_rect(fill=GREY, fillOpacity=0.06, stroke=INK, cornerRadius=5)
        .encode(**corners, strokeOpacity=alt.StrokeOpacity("opacity:Q", scale=None))
        .add_params(alt.selection_point(name=PICKED, fields=["name"])),
        cells.mark_rect(aria=False, cursor="pointer").encode(
            **corners, color=alt.Color("color:N", scale=None), opacity=opacity,
            tooltip=tips("row", "column", "value"),
        ),
        outlines.mark_rect(filled=False, strokeWidth=2, aria=False).encode(
            **corners, stroke=alt.Stroke("color:N", scale=None)
        ),
        texts.mark_text(
            color=INK, fontSize=alt.expr("width < 420 ? 10.5 : 12.5"), aria=False,
            fontWeight=alt.expr("datum.weight"), align=alt.expr("datum.align"),
            dx=alt.expr("datum.align == 'left' ? 6 : -6"), limit=alt.expr("datum.room * width - 9"),
        ).encode(x, y, text=alt.Text("text:N")),
    ]  # fmt: skip
    # Streamlit would draw so many squares on a canvas, which knows no `INK`
    return alt.LayerChart(layer=layers, usermeta={"embedOptions": {"renderer": "svg"}})


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
    sizes = block_size(len(values), panel.most[0]), block_size(values.shape[1], panel.most[1])
    seen = block_means(np.isfinite(values).astype(np.float64), sizes)
    means = block_means(np.where(np.isfinite(values), values, 0), sizes) / np.maximum(seen, 1e-9)
    end = 1.0 if panel.color else float(np.abs(means).max()) or 1.0
    left, right, top, foot = panel.inner
    named = panel.columns or [f"component {n + 1}" for n in range(values.shape[1])]
    rows, columns = (
        [
            " … ".join(dict.fromkeys((names[n], names[min(n + size, len(names)) - 1])))
            for n in range(0, len(names), size)
        ]
        for names, size in zip((panel.rows, named), sizes, strict=True)
    )
    across, down = np.linspace(left, right, len(columns) + 1), np.linspace(top, foot, len(rows) + 1)
    mean = f" (mean of {sizes[0]} × {sizes[1]})" if max(sizes) > 1 else ""
    hidden = "−∞" if np.isneginf(values).any() else "padding"
    for (n, m), value in np.ndenumerate(means):
        if seen[n, m]:
            ink, text = panel.color or (PURPLE if value > 0 else OLIVE), format_number(value, 3)
            strength = min(abs(value) / end, 1.0)
        else:
            ink, text, strength = GREY, hidden, 0.35
        place = (across[m], across[m + 1], down[n], down[n + 1])
        yield *place, panel.name, ink, strength, rows[n], columns[m], text + mean * bool(seen[n, m])
