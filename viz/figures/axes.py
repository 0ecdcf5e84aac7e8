"""Colours, axes, ticks and legends that charts share, and the smallest map."""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viz.draw.labels import display_tokens, row_names

CURVE_COLORS = (
    "#8A6BD1", "#B8860B", "#C2569A", "#6E8091",
    "#2E8B8B", "#A66A5C", "#7D8B1F", "#A57FB0",
)  # fmt: skip
"""Colours of curves, visible on a light and on a dark page."""


def curve_colors(count: int) -> list[str]:
    """Return a colour for each of `count` curves; beyond eight they repeat."""
    return [CURVE_COLORS[n % len(CURVE_COLORS)] for n in range(count)]


VIOLET, OCHRE, PINK, SLATE = CURVE_COLORS[:4]
OLIVE, PALE, PURPLE = "#888800", "#F2F2F2", "#A64AC4"  # colours of values below 0, of 0, and above
GREY = "#80868E"  # colour of secondary marks, on a light and on a dark page; too faint for text
INK = "currentColor"  # colour of text: that of the page around the chart, light or dark


def vega_json(value: object) -> str:
    """Return JSON for a chart or a Vega expression.

    A plain JSON string "if" would be read as the name of a signal, and no chart drawn.
    """
    text = json.dumps(value if isinstance(value, dict) else in_xml(value))
    return text.replace('"if"', r'"if\u2060"')


def in_xml(value: Any) -> Any:
    """Replace in all texts of a value what no XML may hold: vl-convert would abort the process."""
    if isinstance(value, str):
        return re.sub("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", value)
    if isinstance(value, dict):
        return {name: in_xml(part) for name, part in value.items()}
    return [in_xml(part) for part in value] if isinstance(value, list | tuple) else value


def tick_label(number: str) -> str:
    """Return the Vega expression of a tick's label: 0, or a number in a d3 format."""
    return f"datum.value == 0 ? '0' : format(datum.value, '{number}')"


def log_ticks(values: Collection[float]) -> Any:
    """Return the ticks of a logarithmic axis: 1, 2 and 5 of each decade.

    Vega chooses if the range has fewer than three of them: it divides narrow ranges well, but
    otherwise draws a line for each of 1 to 9, most without a number.
    """
    drawn = [value for value in values if 0 < value < math.inf]
    low, high = min(drawn, default=1.0), max(drawn, default=1.0)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
    between = [tick for tick in ticks if low <= tick <= high]
    return between if len(between) > 2 else alt.Undefined


def log_labels(ticks: Collection[float]) -> str:
    """Return the Vega expression of the labels of `log_ticks`.

    With three powers of ten among the ticks, these alone have labels: 1, 10, 100.
    """
    label = tick_label("~s")
    if sum(math.log10(tick).is_integer() for tick in ticks) < 3:
        return label
    power = "log(datum.value) / LN10"
    return f"abs({power} - round({power})) < 1e-9 ? {label} : ''"


def step_axis(scale: Any = alt.Undefined, **more: Any) -> alt.X:
    """Return the horizontal axis of training steps, with `more` settings of `alt.Axis`."""
    settings = {"grid": False, "tickCount": 6, "labelExpr": tick_label("~s"), **more}
    return alt.X("step:Q", title="step", scale=scale, axis=alt.Axis(**settings))


ALL_WORDS = 30  # words up to which each has a label on an axis


def word_axis(words: Sequence[str], *, title: str | None = None, **more: Any) -> alt.X:
    """Return the axis of a sentence's words by their column `place`, with `more` of `alt.Axis`."""
    settings: dict[str, Any] = {
        "labelExpr": f"{vega_json(words)}[datum.value]",
        "labelAngle": -45,
        "labelLimit": 110,
        "labelOverlap": len(words) > ALL_WORDS,
        "grid": False,
    }
    return alt.X("place:O", title=title, axis=alt.Axis(**settings | more))


def legend_below(**more: Any) -> alt.Legend:
    """Return a legend under its chart, a line for each entry, with `more` of `alt.Legend`."""
    settings: dict[str, Any] = {
        "title": None,
        "orient": "bottom",
        "labelLimit": 400,
        "columns": 1,
        "symbolType": "stroke",
        "symbolStrokeWidth": 3,
    }
    return alt.Legend(**settings | more)


def curve_color(
    field: str, names: Sequence[str], colors: Sequence[str] | None = None, **legend: Any
) -> alt.Color:
    """Return a colour for each curve, by its name in a column; see `legend_below`."""
    palette = list(colors or curve_colors(len(names)))[: len(names)]
    scale = alt.Scale(domain=list(names), range=palette)
    return alt.Color(f"{field}:N", scale=scale, legend=legend_below(**legend))


def named_color(field: str, colors: Mapping[str, str], **legend: Any) -> alt.Color:
    """Return the colour of each name in a column, with a `legend` above in the same order."""
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    settings: dict[str, Any] = {"title": None, "orient": "top"}
    return alt.Color(f"{field}:N", scale=scale, legend=alt.Legend(**settings | legend))


def pair_encoding(
    field: str, colors: Mapping[str, str], sizes: tuple[int, int], **legend: Any
) -> tuple[alt.Color, alt.Shape, alt.Size]:
    """Return colour, shape and size of two kinds of marks, both seen where they coincide."""
    shared: dict[str, Any] = {"legend": alt.Legend(**{"title": None, "orient": "top"} | legend)}
    shapes, areas = (
        alt.Scale(domain=list(colors), range=list(marks))
        for marks in (("circle", "diamond"), sizes)
    )
    color = named_color(field, colors, **legend)
    name = f"{field}:N"
    return color, alt.Shape(name, scale=shapes, **shared), alt.Size(name, scale=areas, **shared)


def bare_axis(**more: Any) -> alt.Axis:
    """Return an axis of labels alone, without line, ticks and grid."""
    return alt.Axis(**dict.fromkeys(("domain", "ticks", "grid"), False) | more)


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
    """Draw the weights of one head, `[query, key]`, 0 to 1: rows are queries, columns are keys."""
    columns_text, rows_text = display_tokens(keys), row_names(queries, reads=reads, writes=writes)
    rows, columns = (index.ravel() for index in np.indices(weights.shape))
    names = {
        "looks": [rows_text[row] for row in rows],
        "at": [columns_text[column] for column in columns],
    }
    table = pd.DataFrame({"row": rows, "column": columns, **names})
    table["weight"] = weights.ravel().astype(float)
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
