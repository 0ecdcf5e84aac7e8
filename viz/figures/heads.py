"""Attention as figures: one head, and one number for each head.

Tokens are shown as text: Plotly interprets a few tags and Altair none, so tokens are escaped for
Plotly.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from transformer import errors, kinds, trace
from transformer.text.languages import Languages
from transformer.traces import from_arrays
from viz.draw import palette, wire
from viz.draw.labels import axis_titles, display_tokens
from viz.figures.axes import OLIVE, PALE, PURPLE
from viz.figures.forms import tips

Weights = NDArray[np.float32]

_HOVER = "%{customdata[0]} → %{customdata[1]}<br>%{z:.4f}<extra>%{fullData.name}</extra>"
_CELL = 26  # CSS pixels of a token
_ROUNDING = 0.01  # of half precision, summed over the pieces of a word
_UNKNOWN = Languages("", "")

SIGNIFICANT = 0.05  # p below which a head has a dot


def head_map(
    weights: ArrayLike,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    kind: kinds.Kind,
    languages: Languages = _UNKNOWN,
    by_read: bool = False,
    alone: bool = False,
    title: str = "",
) -> go.Figure:
    """Draw one large head: queries down, keys across, each weight in a tooltip (§3.2.1).

    Args:
        weights: `[query, key]`, 0 to 1.
        queries: pieces or whole words.
        keys: likewise.
        kind: kind of attention, which gives colours and axis titles.
        languages: languages for the axis titles, such as `trace.languages`; source and target by
            default.
        by_read: whether a row of `cross` is named by the token that the decoder reads.
        alone: whether there is one sentence rather than a source and a target.
        title: title of the figure.

    Raises:
        ValueError: if the kind does not exist, the number of labels is wrong, or a weight is not a
            number from 0 to 1; `lenses.as_rows` converts the values of a lens.
    """
    drawn = _as_weights(weights, kind)
    wire.check(drawn, trace.Labels(tuple(queries), tuple(keys)), dimensions=2)
    figure = go.Figure(_heatmap(drawn, queries, keys, kind, title))
    figure.update_layout(
        title=escape(title) or None,
        width=160 + _CELL * len(keys),
        height=160 + _CELL * len(queries),
        template="plotly_white",
        margin={"l": 10, "r": 10, "t": 60 if title else 30, "b": 10},
        meta={"attention": kind},
    )
    rows, columns = axis_titles(kind, languages, row="reads" if by_read else None, alone=alone)
    figure.update_xaxes(_ticks(keys), title=columns, side="top", showgrid=False)
    figure.update_yaxes(_ticks(queries), title=rows, autorange="reversed", showgrid=False)
    return figure


def measures_chart(
    frame: pd.DataFrame, ends: tuple[float, float] | None = None, across: str = "head"
) -> alt.Chart | alt.LayerChart:
    """Draw one number for each head as a grid of squares, layers down and heads across.

    With negative numbers, a diverging scale is centred on 0.

    Args:
        frame: columns `layer` and `head`, both from 0, and a third with the numbers, whose name is
            their title; one row for each head. Further columns are numbers for the tooltip; a dot
            marks those whose `p` is below `SIGNIFICANT`.
        ends: smallest and largest number of all charts that share the colours; by default, those
            of the frame.
        across: column of names that stand across in place of heads, in the order of the frame.

    Raises:
        ValueError: if there is no third column.
    """
    name, *others = [str(c) for c in frame.columns if c not in ("layer", across)] or [""]
    if not name:
        raise ValueError("the table needs a third column, with a number for each head")
    counted = ["layer", "head"] if across == "head" else ["layer"]
    drawn = frame.drop(columns=name).assign(value=frame[name], **(frame[counted] + 1))
    low, high = (drawn["value"].min(), drawn["value"].max()) if ends is None else ends
    scale = alt.Scale(scheme="greys", domain=alt.Undefined if ends is None else [0, high])
    if low < 0:
        maximum = float(max(-low, high))
        colors = [OLIVE, PALE, PURPLE]
        scale = alt.Scale(domain=[-maximum, 0, maximum], range=colors, interpolate="rgb")
    formats = {column: ("", ".3f" if frame[column].dtype.kind == "f" else "") for column in others}
    sort, width = ("ascending", 34) if across == "head" else (None, 64)
    axes = (
        alt.X(f"{across}:O", sort=sort, title=across, axis=alt.Axis(labelAngle=0, orient="top")),
        alt.Y("layer:O", title="layer"),
    )
    legend = alt.Legend(gradientLength=28 * drawn["layer"].nunique())
    cells = alt.Chart(_listed(drawn), width=alt.Step(width), height=alt.Step(34)).mark_rect()
    places = "layer:O", f"{across}:O"
    squares = cells.encode(
        *axes,
        color=alt.Color("value:Q", title=name, scale=scale, legend=legend),
        tooltip=[*map(alt.Tooltip, places), *tips(value=(name, ".3f"), **formats)],
    )
    if "p" not in frame:
        return squares
    marked = alt.Chart(_listed(drawn[drawn["p"] < SIGNIFICANT]))
    dots = marked.mark_point(  # unnamed where there is none
        filled=True, size=36, color="#202124", stroke="#fff", opacity=1, aria=False
    )
    return squares + dots.encode(*axes)


def _listed(table: pd.DataFrame) -> alt.InlineData:
    rows: list[Any] = table.to_dict("records")  # Altair refuses a table above 5,000 rows
    return alt.InlineData(rows)


def _as_weights(values: object, kind: kinds.Kind) -> Weights:
    """Convert NumPy, torch or lists to an array, and check its range."""
    if kind not in [*kinds.KINDS]:
        raise ValueError(
            f"no kind of attention {errors.quoted(kind)}: choose one of {', '.join(kinds.KINDS)}"
        )
    weights = from_arrays.as_array(values, "attention")
    if ((weights < -_ROUNDING) | (weights > 1 + _ROUNDING)).any():
        raise ValueError(
            f"weights from {weights.min():.3g} to {weights.max():.3g}, where colours run from 0 to "
            f"1: give transformer.analysis.lenses.as_rows of them"
        )
    return weights


def _heatmap(
    weights: Weights, queries: Sequence[str], keys: Sequence[str], kind: kinds.Kind, name: str
) -> go.Heatmap:
    rows, columns = (
        np.array([escape(token) for token in display_tokens(axis)]) for axis in (queries, keys)
    )
    tokens = np.stack(np.broadcast_arrays(rows[:, None], columns[None]), axis=-1)
    return go.Heatmap(
        z=weights,
        zmin=0,
        zmax=1,
        customdata=tokens,
        colorscale=palette.colorscale(kind, "light"),
        name=escape(name),
        hovertemplate=_HOVER,
        xgap=0.5,
        ygap=0.5,
    )


def _ticks(tokens: Sequence[str]) -> dict[str, object]:
    # by position: a word that occurs twice has two rows
    texts = [escape(token) for token in display_tokens(tokens)]
    return {"tickmode": "array", "tickvals": list(range(len(tokens))), "ticktext": texts}
