"""The weights of one head on one sentence as a small map."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viz.draw.labels import display_tokens, row_names
from viz.figures.axes import bare_axis, vega_json

_SIDE = 170  # CSS pixels


def small_map(
    weights: NDArray[np.floating],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    title: str,
    color: str,
    reads: Sequence[str] | None = None,
    writes: Sequence[str] | None = None,
) -> alt.Chart:
    """Draw the weights of one head, `[query, key]`, 0 to 1: rows are queries, columns are keys.

    The tooltip names a decoder's row by both words, with what it `reads` or `writes`.
    """
    columns_text, rows_text = display_tokens(keys), row_names(queries, reads=reads, writes=writes)
    rows, columns = (index.ravel() for index in np.indices(weights.shape))
    table = pd.DataFrame(
        {
            "row": rows,
            "column": columns,
            "looks": [rows_text[row] for row in rows],
            "at": [columns_text[column] for column in columns],
            "weight": weights.ravel().astype(float),
        }
    )
    scale = alt.Scale(padding=0)
    opacity = alt.Scale(domain=[0, 1], range=[0, 1])
    tooltip = [
        alt.Tooltip("map:N", title="map"),
        alt.Tooltip("looks:N", title="row"),
        alt.Tooltip("at:N", title="looks at"),
        alt.Tooltip("weight:Q", format=".3f"),
    ]
    squares = (
        alt.Chart(table, height=_SIDE)
        .transform_calculate(map=vega_json(title))
        .mark_rect(color=color, aria=False)
    )
    return squares.encode(
        alt.X("column:O", axis=_words(columns_text, angle=-90), scale=scale),
        alt.Y("row:O", axis=_words(display_tokens(queries), angle=0), scale=scale),
        opacity=alt.Opacity("weight:Q", scale=opacity, legend=None),
        tooltip=tooltip,
    )


def _words(texts: Sequence[str], *, angle: int) -> alt.Axis:
    """Name the rows or columns in small letters, as many as have room."""
    return bare_axis(
        title=None,
        labelExpr=f"{vega_json(texts)}[datum.value]",
        labelAngle=angle,
        labelFontSize=9,
        labelLimit=46,
        labelOverlap="greedy",
        labelPadding=2,
    )
