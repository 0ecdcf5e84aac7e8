"""Attention as a picture where no script runs: one head large, or all heads of a kind small."""

from collections.abc import Sequence
from html import unescape
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from transformer.kinds import Kind
from viz.draw import palette, wire
from viz.draw.labels import AxisTitles, display_tokens
from viz.figures.axes import bare_axis, vega_json

if TYPE_CHECKING:
    import plotly.graph_objects as go

_LABELLED = 40  # largest number of tokens of a side that have labels

_SQUARES = 80  # largest number of squares of a side; beyond it, neighbours share a square
_SMALL_SQUARES = 10_000  # largest number of squares of all small maps together
_SIDE = 400  # CSS pixels of the large map, and of the small ones together
_SHARE = 0.92  # of a small map's place; the rest is the gap to the next


def large_map(
    weights: NDArray[np.floating],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    kind: Kind,
    titles: AxisTitles,
    title: str = "",
    amount: str = "weight",
) -> alt.Chart:
    """Draw one head, `[query, key]`, with tokens on both axes."""
    shares, notes = _shares(weights, _SQUARES)
    if max(weights.shape) > _LABELLED:
        notes.append(f"At most {_LABELLED} tokens of a side are named.")
    rows, columns = (index.ravel() for index in np.indices(shares.shape))
    frame = pd.DataFrame({"row": rows, "column": columns, "weight": shares.ravel()})
    step = alt.Step(min(24, _SIDE / max(shares.shape)))
    across = _token_axis(keys, shares.shape[1], title=titles.columns, orient="top", labelAngle=-45)
    down = _token_axis(queries, shares.shape[0], title=titles.rows)
    drawn = alt.Chart(frame, width=step, height=step, title=alt.Title(title, subtitle=notes))
    squares = drawn.mark_rect()
    scale = alt.Scale(padding=0)
    return squares.encode(
        alt.X("column:O", axis=across, scale=scale),
        alt.Y("row:O", axis=down, scale=scale),
        _color(kind, legend=alt.Legend(title=amount, gradientLength=120)),
    )


def small_maps(
    weights: NDArray[np.floating],
    *,
    kind: Kind,
    layers: Sequence[int],
    counts: Sequence[int],
    title: str = "",
    outlined: tuple[int, int] | None = None,
) -> Any:
    """Draw the heads of some layers, `[layer, head, query, key]`, layers down and heads across.

    `counts` is the number of heads of each layer; `outlined` is layer and head of one of them.
    """
    places = [(row, head) for row, layer in enumerate(layers) for head in range(counts[layer])]
    drawn = np.stack([weights[layers[row], head] for row, head in places])
    most = max(4, int((_SMALL_SQUARES / len(places)) ** 0.5))
    shares, notes = _shares(drawn, most)
    number, row, column = (index.ravel() for index in np.indices(shares.shape))
    down, across = np.array(places).T[:, number]
    height, width = (_SHARE / count for count in shares.shape[1:])
    frame = pd.DataFrame({"x": across + column * width, "y": down + row * height})
    frame = frame.assign(x2=frame.x + width, y2=frame.y + height, weight=shares.ravel())
    heads = max(counts)
    axes = (
        _places("x", range(heads), "H", orient="top", labels=heads > 1),
        _places("y", layers, "L"),
    )
    squares = alt.Chart(frame).mark_rect().encode(*axes, alt.X2("x2:Q"), alt.Y2("y2:Q"))
    edges = [
        {"x": head, "x2": head + _SHARE, "y": row, "y2": row + _SHARE}
        for row, head in places
        if (layers[row], head) == outlined
    ]
    outline = alt.Chart(pd.DataFrame(edges, columns=["x", "x2", "y", "y2"]))
    marked = outline.mark_rect(filled=False, stroke="#202124", strokeWidth=1.5)
    tile = min(64, max(16, _SIDE / heads))
    return alt.layer(
        squares.encode(_color(kind, legend=None)),
        marked.encode(*axes, alt.X2("x2:Q"), alt.Y2("y2:Q")),
    ).properties(
        title=alt.Title(title, subtitle=notes, anchor="start"),
        width=tile * heads,
        height=tile * len(layers),
    )


def plotly_maps(figure: "go.Figure") -> Any:
    """Draw a figure of `head_map` or `all_heads` once more; None for any other figure."""
    meta = figure.layout.meta
    if not isinstance(meta, dict) or "attention" not in meta:
        return None
    kind, (layers, heads) = meta["attention"], meta["shape"]
    weights = np.stack([heatmap.z for heatmap in figure.data])
    if layers:
        grid = weights.reshape(layers, heads, *weights.shape[1:])
        return small_maps(grid, kind=kind, layers=range(layers), counts=[heads] * layers)
    tokens = figure.data[0].customdata
    queries, keys = ([*map(unescape, axis)] for axis in (tokens[:, 0, 0], tokens[0, :, 1]))
    titles = AxisTitles(figure.layout.yaxis.title.text, figure.layout.xaxis.title.text)
    title = unescape(figure.layout.title.text or "")
    return large_map(weights[0], queries, keys, kind=kind, titles=titles, title=title)


def _shares(weights: NDArray, most: int) -> tuple[NDArray, list[str]]:
    """Return what groups of neighbouring keys get from groups of queries, and a note if they do."""
    rows, columns = (wire.block_size(count, most) for count in weights.shape[-2:])
    starts = np.arange(0, weights.shape[-1], columns)
    shares = np.add.reduceat(wire.block_means(weights, (rows, 1)), starts, axis=-1)
    return shares, ["Neighbouring tokens share a square."] * (max(rows, columns) > 1)


def _token_axis(tokens: Sequence[str], squares: int, **more: Any) -> alt.Axis:
    """Name the first token of each square, of as many as have room."""
    size, shown = wire.block_size(len(tokens), _SQUARES), wire.block_size(squares, _LABELLED)
    texts = display_tokens(tokens)[::size]
    settings = {
        "labelOverlap": False,
        "labelLimit": 110,
        "labelFontSize": 9,
        "values": [*range(0, squares, shown)],
    }
    return bare_axis(labelExpr=f"{vega_json(texts)}[datum.value]", **settings, **more)


def _places(field: str, numbers: Sequence[int], letter: str, **more: Any) -> Any:
    """Return the axis of the layers or heads of small maps, each named in its middle."""
    names = [f"{letter}{number + 1}" for number in numbers]
    middles = [place + _SHARE / 2 for place in range(len(numbers))]
    label = f"{vega_json(names)}[floor(datum.value)]"
    axis = bare_axis(title=None, values=middles, labelExpr=label, **more)
    scale = alt.Scale(domain=[0, len(numbers)], nice=False, reverse=field == "y")
    return {"x": alt.X, "y": alt.Y}[field](f"{field}:Q", axis=axis, scale=scale)


def _color(kind: Kind, legend: alt.Legend | None) -> alt.Color:
    places, colors = zip(*palette.colorscale(kind, "light"), strict=True)
    scale = alt.Scale(domain=[*places], range=[*colors], interpolate="rgb", clamp=True)
    return alt.Color("weight:Q", scale=scale, legend=legend)
