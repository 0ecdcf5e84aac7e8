"""Values around 0 as maps, one or several side by side on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz.draw.blocks import block_means, block_size
from viz.figures.colors import OLIVE, PURPLE

Floats = NDArray[np.floating]


def _rgba(color: str, opacity: int) -> str:
    red, green, blue = bytes.fromhex(color[1:])
    return f"rgba({red}, {green}, {blue}, {opacity})"


SIGNED = (
    (0.0, _rgba(OLIVE, 1)),
    (0.5, _rgba(OLIVE, 0)),
    (0.5, _rgba(PURPLE, 0)),
    (1.0, _rgba(PURPLE, 1)),
)
"""Olive for less than 0, purple for more, and 0 is the page itself: right on a light and on a dark
one, and no kind of attention."""

MOST = 256
"""Cells along a side of a map, each at least a pixel of a screen.

Of more, a browser would leave out or double some, and waves would show where none are: neighbours
are drawn by their mean instead.
"""


def signed_map(
    values: Floats, most: float, *, hover: str, x: Sequence | None = None, y: Sequence | None = None
) -> go.Heatmap:
    """Values around 0 as a map, on one scale from -most to most; more than `MOST` as means.

    Args:
        values: `[row, column]`.
        most: gets the full colour.
        hover: Plotly's template of what a cell says.
        x: what a column is called in `hover`; its number unless given.
        y: likewise, a row.
    """
    rows, columns = (block_size(count, MOST) for count in values.shape)
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
    """`dimension`, or `dimension, means of 2` where so many stand along the axis."""
    size = block_size(count, MOST)
    return name if size == 1 else f"{name}, means of {size}"


def axis_place(index: int, count: int) -> float:
    """Where one of `count` names stands on an axis of names: several may share a cell."""
    return index / block_size(count, MOST)


def _blocks(names: Sequence | None, count: int, size: int) -> Sequence:
    """The middle of each block, or what its first and its last are called."""
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
) -> go.Figure:
    """Maps side by side whose rows are the same, with one scale of colour at the right.

    Args:
        heatmaps: by what stands above them.
        across: Plotly's settings of each horizontal axis.
        down: and of the one vertical axis.
        height: of all, in CSS pixels.
        widths: of the maps, in shares; alike unless given.
    """
    shares = np.array(widths or [1.0] * len(heatmaps))
    gap = 0.03
    ends = np.cumsum(shares / shares.sum()) * (1 + gap)
    starts = ends - shares / shares.sum() * (1 + gap)
    plain = {"showgrid": False, "zeroline": False, "automargin": True, "ticks": ""}
    layout: dict[str, object] = {
        "height": height,
        "dragmode": False,  # one that is dragged would keep a finger from scrolling the page
        # over what stands above the maps there is room for Plotly's own buttons
        "margin": {"l": 10, "r": 10, "t": 76 if any(heatmaps) else 40, "b": 10},
        "yaxis": {**plain, "autorange": "reversed", **down},
    }
    notes = []
    for number, (title, one) in enumerate(heatmaps.items(), start=1):
        left, right = starts[number - 1], ends[number - 1] - gap
        name = "" if number == 1 else str(number)
        layout[f"xaxis{name}"] = {**plain, "domain": [left, min(right, 1)], **across}
        one.xaxis, one.yaxis = f"x{name}", "y"
        place = {"x": (left + right) / 2, "xref": "paper", "y": 1, "yref": "paper"}
        notes.append(
            {**place, "text": title, "showarrow": False, "xanchor": "center", "yanchor": "bottom"}
        )
    one.showscale = True
    one.colorbar = {"thickness": 10, "outlinewidth": 0}
    return go.Figure(list(heatmaps.values()), {**layout, "annotations": notes})
