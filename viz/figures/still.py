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


def large_map(
    weights: NDArray[np.floating], queries: Sequence[str], keys: Sequence[str], *, kind: Kind,
    titles: AxisTitles, title: str | None = None, amount: str = "weight",
) -> Any:  # fmt: skip
    """Draw one head, `[query, key]`, with tokens on both axes."""
    shares, notes = _shares(weights, _SQUARES)
    if max(weights.shape) > _LABELLED:
        notes.append(f"At most {_LABELLED} tokens of a side are named.")
    across, down = (
        _token_axis(tokens, count, title=name, **more)
        for tokens, count, name, more in (
            (keys, shares.shape[1], titles.columns, {"orient": "top", "labelAngle": -45}),
            (queries, shares.shape[0], titles.rows, {}),
        )
    )
    legend = alt.Legend(title=amount, gradientLength=120)
    step = alt.Step(min(24, _SIDE / max(shares.shape)))
    squares = _squares(_table(shares), kind, across, down, legend)
    return squares.properties(width=step, height=step, title=alt.Title(title or "", subtitle=notes))


def small_maps(
    weights: NDArray[np.floating], *, kind: Kind, layers: Sequence[int], counts: Sequence[int],
    title: str = "", outlined: tuple[int, int] = (-1, -1),
) -> Any:  # fmt: skip
    """Draw the heads of some layers, `[layer, head, query, key]`, layers down and heads across.

    `counts` is the number of heads of each layer; `outlined` is layer and head of one of them.
    """
    heads = sum(counts[layer] for layer in layers)
    shares, notes = _shares(weights, max(4, int((_SMALL_SQUARES / heads) ** 0.5)))
    table = _table(shares)
    there = table.layer.isin(layers) & (table["head"] < np.array(counts)[table.layer])
    chosen = f"datum.layer == {outlined[0]} && datum.head == {outlined[1]} && !datum.row"
    outline = alt.Chart().mark_rect(filled=False, stroke="#202124", strokeWidth=1.5)
    tile = min(60, max(14, _SIDE / max(counts)))
    maps = alt.layer(
        _squares(alt.Undefined, kind, None, None, None).properties(width=tile, height=tile),
        outline.transform_filter(f"{chosen} && !datum.column").encode(
            alt.XValue(0), alt.X2Value("width"), alt.YValue(0), alt.Y2Value("height")
        ),
        data=table[there],
    )
    down, across = (
        alt.Header(title=None, labelAngle=0, labelExpr=f"'{letter}' + (datum.value + 1)")
        for letter in "LH"
    )
    return maps.facet(
        row=alt.Row("layer:O", header=down),
        column=alt.Column("head:O", header=across),
        spacing=4,
        title=alt.Title(title, subtitle=notes, anchor="start"),
    )


def plotly_map(figure: "go.Figure") -> Any:
    """Draw a figure of `head_map` once more; None for any other figure."""
    meta = figure.layout.meta
    if not isinstance(meta, dict) or "attention" not in meta:
        return None
    (heatmap,) = figure.data
    weights, tokens = np.asarray(heatmap.z), heatmap.customdata
    queries, keys = ([*map(unescape, axis)] for axis in (tokens[:, 0, 0], tokens[0, :, 1]))
    titles = AxisTitles(figure.layout.yaxis.title.text, figure.layout.xaxis.title.text)
    title = unescape(figure.layout.title.text or "")
    return large_map(weights, queries, keys, kind=meta["attention"], titles=titles, title=title)


def _shares(weights: NDArray, most: int) -> tuple[NDArray, list[str]]:
    """Return what groups of neighbouring keys get from groups of queries, and a note if they do."""
    rows, columns = (wire.block_size(count, most) for count in weights.shape[-2:])
    starts = np.arange(0, weights.shape[-1], columns)
    shares = np.add.reduceat(wire.block_means(weights, (rows, 1)), starts, axis=-1)
    return shares, ["Neighbouring tokens share a square."] * (max(rows, columns) > 1)


def _token_axis(tokens: Sequence[str], squares: int, **more: Any) -> alt.Axis:
    """Name the first token of each square, of as many as have room."""
    texts = display_tokens(tokens)[:: wire.block_size(len(tokens), _SQUARES)]
    values = [*range(0, squares, wire.block_size(squares, _LABELLED))]
    label = f"{vega_json(texts)}[datum.value]"
    return bare_axis(labelExpr=label, values=values, labelLimit=110, labelFontSize=9, **more)


def _table(shares: NDArray) -> pd.DataFrame:
    names = ("layer", "head", "row", "column")[-shares.ndim :]
    places = (index.ravel() for index in np.indices(shares.shape))
    return pd.DataFrame({**dict(zip(names, places, strict=True)), "weight": shares.ravel()})


def _squares(
    table: Any, kind: Kind, across: Any, down: Any, legend: alt.Legend | None
) -> alt.Chart:
    places, colors = zip(*palette.colorscale(kind, "light"), strict=True)
    scale = alt.Scale(domain=[*places], range=[*colors], interpolate="rgb", clamp=True)
    close = alt.Scale(padding=0)
    return (
        alt.Chart(table)
        .mark_rect()
        .encode(
            alt.X("column:O", axis=across, scale=close),
            alt.Y("row:O", axis=down, scale=close),
            alt.Color("weight:Q", scale=scale, legend=legend),
        )
    )
