"""Forms that charts share: tooltips, curves with their dots, dumbbells, intervals, single rules.

They return Any, as Altair's own `encode` does, so that two of them can be layered.
"""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd
from numpy.typing import ArrayLike

from viz.figures.axes import GREY, pair_encoding

TEXT = "text"  # in place of a format: the column of a tooltip holds text


def tips(*names: str, **columns: tuple[str, str]) -> list[alt.Tooltip]:
    """Return the lines of a tooltip: columns of text by name, then `columns` with title and format.

    An empty title is the name of the column; a format is d3's, "" by default, or `TEXT`.
    """
    lines = [alt.Tooltip(f"{name}:N") for name in names]
    for name, (title, number) in columns.items():
        kind, number = ("N", "") if number == TEXT else ("Q", number)
        settings = title or alt.Undefined, number or alt.Undefined
        lines.append(alt.Tooltip(f"{name}:{kind}", title=settings[0], format=settings[1]))
    return lines


def long_form(
    name: str, value: str, curves: Mapping[str, ArrayLike], **columns: ArrayLike
) -> pd.DataFrame:
    """Return curves as a long-form table: a row for each value, with its name and `columns`."""
    return pd.concat(
        pd.DataFrame({name: curve, **columns, value: values}) for curve, values in curves.items()
    )


def curves(
    table: pd.DataFrame, *encodings: Any, width: float = 2, dots: int = 0, height: int, **more: Any
) -> Any:
    """Draw lines of a table, with `dots` in square pixels; `more` are further encodings."""
    point: Any = alt.OverlayMarkDef(size=dots, filled=True) if dots else alt.Undefined
    lines = alt.Chart(table, height=height).mark_line(strokeWidth=width, point=point)
    return lines.encode(*encodings, **more)


def points(table: pd.DataFrame, *encodings: Any, size: int, **more: Any) -> Any:
    """Draw filled points, `size` in square pixels; `more` are further encodings."""
    return alt.Chart(table).mark_point(size=size, filled=True, opacity=1).encode(*encodings, **more)


def rule(field: str, value: float, **mark: Any) -> Any:
    """Draw a line down the chart at a value of its horizontal axis, grey unless `mark` says."""
    chart = alt.Chart(pd.DataFrame({field: [value]}))
    return chart.mark_rule(**{"color": GREY, **mark}).encode(alt.X(f"{field}:Q"))


def dumbbells(
    table: pd.DataFrame, kind: str, colors: Mapping[str, str], sizes: tuple[int, int],
    *, x: alt.X, y: alt.Y, height: Any, tooltip: list[alt.Tooltip], **legend: Any,
) -> alt.LayerChart:  # fmt: skip
    """Draw two values of each place as dots at the ends of a line.

    The table has a column for each of the two names in `colors`; the dots have the name in the
    column `kind`, and the value in the other new column that an axis names.
    """
    axes: dict[str, Any] = {"x": x, "y": y}
    fields = {side: axis.to_dict()["field"] for side, axis in axes.items()}
    (side,) = (side for side, field in fields.items() if field not in table)
    first, second = colors
    start, end = {"x": (alt.X, alt.X2), "y": (alt.Y, alt.Y2)}[side]
    ends = {**axes, side: start(f"{first}:Q"), f"{side}2": end(f"{second}:Q")}
    lines = alt.Chart(table).mark_rule(color=GREY, strokeWidth=1.5).encode(**ends)
    columns = [column for column in table if column not in colors]
    long = table.melt(columns, var_name=kind, value_name=fields[side])
    dots = alt.Chart(long, height=height).mark_point(filled=True, opacity=1)
    marks = pair_encoding(kind, colors, sizes, **legend)
    return lines + dots.encode(*marks, **axes, tooltip=tooltip)
