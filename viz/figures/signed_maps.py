"""Maps of signed values, one or several side by side on one scale."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz.draw.wire import block_means, block_size
from viz.figures.axes import OLIVE, PURPLE

Floats = NDArray[np.floating]


SIGNED = tuple(
    (place, f"rgba{(*bytes.fromhex(color[1:]), opacity)}")
    for place, color, opacity in (
        (0.0, OLIVE, 1),
        (0.5, OLIVE, 0),
        (0.5, PURPLE, 0),
        (1.0, PURPLE, 1),
    )
)
"""Olive below 0, purple above, and transparent at 0, for a light and a dark page; these are not
colours of a kind of attention."""

MAX_CELLS = 256
"""Largest number of cells along a side of a map, each at least a pixel of a screen.

Of more, a browser would drop some, and false waves would appear: neighbours are averaged."""

MAX_DIMENSIONS = 128
"""Largest number of dimensions in a map: thinner lines than two pixels would show false bands."""


def drawn_dimensions(count: int) -> list[int]:
    """Select the dimensions that a map draws: all, or evenly spaced pairs of sine and cosine.

    The mean of a pair would hide its wave: of the long ones it is the same at all positions.
    """
    step = block_size(count, MAX_DIMENSIONS)
    return [dimension for dimension in range(count) if dimension // 2 % step == 0]


def dimension_axis(drawn: Sequence[int], most: int = 9) -> dict[str, object]:
    """Return title and at most so many numbered ticks of an axis of dimensions, by their places."""
    every = next(2**n for n in itertools.count() if len(drawn) <= most * 2**n)
    places = list(range(0, len(drawn), every))
    texts = [str(drawn[place]) for place in places]
    apart = (drawn[2] - drawn[0]) // 2 if len(drawn) > 2 else 1
    title = "dimension" if apart == 1 else f"dimension, 1 pair in {apart}"
    return {"title": title, "tickmode": "array", "tickvals": places, "ticktext": texts}


def signed_map(
    values: Floats,
    most: float,
    *,
    hover: str,
    x: Sequence | None = None,
    y: Sequence | None = None,
) -> go.Heatmap:
    """Draw signed values, `[row, column]`, as a map on one scale with full colour at `most`.

    More than `MAX_CELLS` along a side are averaged; `hover` is Plotly's template of the tooltip.
    """
    rows, columns = (block_size(count, MAX_CELLS) for count in values.shape)
    if rows * columns > 1:
        y, x = _blocks(y, len(values), rows), _blocks(x, values.shape[1], columns)
        hover += f"<br>the mean of {rows} × {columns}"
    return go.Heatmap(
        z=block_means(values, (rows, columns)),
        x=x,
        y=y,
        zmin=-most,
        zmax=most,
        colorscale=SIGNED,
        hovertemplate=hover + "<extra></extra>",
        showscale=False,
    )


def axis_title(name: str, count: int) -> str:
    """Return `dimension`, or `dimension, means of 2` for an averaged axis."""
    size = block_size(count, MAX_CELLS)
    return name if size == 1 else f"{name}, means of {size}"


def axis_place(index: int, count: int) -> float:
    """Return the place of one of `count` names on an axis of names, where cells may be averaged."""
    return index / block_size(count, MAX_CELLS)


def _blocks(names: Sequence | None, count: int, size: int) -> Sequence:
    """Return the middle of each block, or the names of its first and last element."""
    ends = [(start, min(start + size, count) - 1) for start in range(0, count, size)]
    if names is None:
        return [(first + last) / 2 for first, last in ends]
    return [names[n] if n == m else f"{names[n]} … {names[m]}" for n, m in ends]


def maps(
    heatmaps: Mapping[str, go.Heatmap],
    *,
    across: Mapping[str, object],
    down: Mapping[str, object],
    height: int,
    widths: Sequence[float] = (),
) -> "go.Figure":
    """Draw maps of the same rows side by side, by their titles, with one colour bar at the right.

    `height` is in CSS pixels; `widths` are relative, equal by default. `across` and `down` are
    Plotly's settings of each horizontal axis and of the vertical one.
    """
    shares = np.array(widths or [1.0] * len(heatmaps))
    gap = 0.03
    ends = np.cumsum(shares / shares.sum()) * (1 + gap)
    starts = ends - shares / shares.sum() * (1 + gap)
    plain = {"showgrid": False, "zeroline": False, "automargin": True, "ticks": ""}
    layout: dict[str, object] = {
        "height": height,
        "dragmode": False,  # dragging would keep a finger from scrolling the page
        # above the titles there is space for Plotly's buttons
        "margin": {"l": 10, "r": 10, "t": 76 if any(heatmaps) else 40, "b": 10},
        "yaxis": {**plain, "autorange": "reversed", **down},
    }
    notes = []
    for number, (title, heatmap) in enumerate(heatmaps.items(), start=1):
        left, right = starts[number - 1], ends[number - 1] - gap
        name = "" if number == 1 else str(number)
        layout[f"xaxis{name}"] = {**plain, "domain": [left, min(right, 1)], **across}
        heatmap.xaxis, heatmap.yaxis = f"x{name}", "y"
        place = {"x": (left + right) / 2, "xref": "paper", "xanchor": "center"}
        above = {"y": 1, "yref": "paper", "yanchor": "bottom"}
        notes.append({**place, **above, "text": title, "showarrow": False})
    heatmap.showscale = True
    heatmap.colorbar = {"thickness": 10, "outlinewidth": 0}
    return go.Figure(list(heatmaps.values()), {**layout, "annotations": notes})
