"""Charts in Streamlit: Altair's, quicker than `st.altair_chart`, Plotly's, maps and tables."""

import math
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import altair
import numpy as np
import pandas as pd
import streamlit as st
from altair.utils.schemapi import disable_debug_mode

from transformer import AttentionTrace
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.files.documents import parse_json
from viz.app.chrome.head_picker import open_head
from viz.app.links import address
from viz.draw.palette import COLOR
from viz.figures.axes import INK, small_map, vega_json
from viz.figures.head_scatter import PICKED
from viz.trace_files import csv_bytes, parquet_bytes

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ENLARGED = 1.3  # factor of letters and heights where the page is presented
VEGA_FONT_SIZE, PLOTLY_FONT_SIZE = 13, 12
"""Sizes of letters unless a chart sets its own, CSS pixels."""
GROWING = {"fontSize", "labelFontSize", "titleFontSize", "labelLimit", "limit", "height", "step"}
"""Properties of a chart that grow with its letters."""

# every chart of the app needs this module, so these settings of the process are made here; Altair
# would validate each part of a chart when it is made, which took a tenth of the time of a page
disable_debug_mode()


def rows_of(table: Any) -> Any:
    """Return the rows of a table as plain values; Altair's own way takes four times as long."""
    if not isinstance(table, pd.DataFrame) or not {c.kind for c in table.dtypes} <= {*"iufbO"}:
        return altair.to_values(table)
    columns = {str(name): map(_plain, column.tolist()) for name, column in table.items()}
    rows = zip(*columns.values(), strict=True)
    return {"values": [dict(zip(columns, row, strict=True)) for row in rows]}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


altair.data_transformers.register("headlight", rows_of)
altair.data_transformers.enable("headlight")


def altair_chart(
    chart: altair.TopLevelMixin | dict[str, Any],
    *,
    alt: str,
    key: str | None = None,
    on_select: Literal["ignore", "rerun"] | Callable[[], None] = "ignore",
    width: Literal["stretch", "content"] = "stretch",
    title: str = "",
) -> None:
    """Draw a chart without its validation by the schema of Vega-Lite, up to half of the time.

    Its tables travel in the message, so they are small; `alt` says what it shows. What `spec_of`
    gave may stand for the chart, and stays as it is. `title` names the head that it shows, if one.
    """
    spec = chart if isinstance(chart, dict) else spec_of(chart)
    spec = {**spec, "title": title} if title else spec
    if address.is_presented():
        spec = enlarged(spec)
    if isinstance(height := spec.get("height"), dict):  # Vega-Lite warns that it fits no step
        parts, across = [spec], {"type": "fit-x", "contains": "padding"}
        for part in parts:
            parts += part.get("layer", ())
        fields = {part.get("encoding", {}).get("y", {}).get("field") for part in parts}
        tables = [row for table in spec["datasets"].values() for row in table]
        rows = {row[field] for row in tables for field in fields & row.keys()}
        spec = {**spec, "height": height["step"] * len(rows), "autosize": across}
    st.vega_lite_chart(spec=spec, key=key, alt=alt, on_select=on_select, width=width)


def plotly_chart(figure: "Figure", *, key: str, alt: str) -> None:
    """Draw a figure of Plotly, whose button saves it under the name `headlight-KEY`."""
    if address.is_presented():
        size = ENLARGED * (figure.layout.font.size or PLOTLY_FONT_SIZE)
        figure = type(figure)(figure)  # the given one may be drawn again
        figure.update_layout(font_size=size).update_annotations(font_size=size)
    saved = {"toImageButtonOptions": {"filename": f"headlight-{key}"}}
    st.plotly_chart(figure, key=key, alt=alt, config=saved)


def spec_of(chart: altair.TopLevelMixin) -> dict[str, Any]:
    """Return the chart with its data and the theme of the app, as a browser draws it."""
    spec: dict[str, Any] = parse_json(vega_json(chart.to_dict(validate=False)))
    return spec


def enlarged(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a chart with larger letters, and room for them, as a projector needs it."""
    config = spec.get("config", {})
    sizes = {"labelFontSize": VEGA_FONT_SIZE, "titleFontSize": VEGA_FONT_SIZE}
    texts = {name: {**sizes, **config.get(name, {})} for name in ("axis", "legend", "header")}
    return _grown({**spec, "config": {**config, **texts}})


def _grown(part: Any, name: str = "") -> Any:
    if name in {"data", "datasets"}:
        return part
    if name in GROWING and isinstance(part, int | float):
        return ENLARGED * part
    if isinstance(part, list):
        return [_grown(item) for item in part]
    if isinstance(part, dict):
        return {key: _grown(value, key) for key, value in part.items()}
    return part


def draw_clickable(
    chart: altair.Chart | altair.LayerChart, key: str, heads: Collection[Head], alt: str
) -> None:
    """Draw a chart with the selection `PICKED`, whose clicks open one of the heads.

    The key changes with the open head: a second click on it would only clear its selection.
    """

    def clicked() -> None:
        # a click outside the cells selects nothing
        if (head := clicked_head(st.session_state.get(key), heads)) is not None:
            open_head(head)

    altair_chart(chart, key=key, on_select=clicked, alt=alt)


def clicked_point(state: object) -> dict[str, object]:
    """Return the fields of the mark that a click has selected; none for anything else."""
    selection = state.get("selection") if isinstance(state, dict) else None
    points = selection.get(PICKED) if isinstance(selection, dict) else None
    if not isinstance(points, list) or not points or not isinstance(points[0], dict):
        return {}
    return points[0]


def clicked_head(state: object, heads: Collection[Head]) -> Head | None:
    """Return which of the heads a click has selected, or None for anything else."""
    point = clicked_point(state)
    place = point.get("layer"), point.get("head")
    if {*map(type, place)} != {int}:
        return None
    return next((head for head in heads if (point.get("kind", head.kind), *place) == head), None)


@altair.theme.register("headlight", enable=True)
def chart_theme() -> altair.theme.ThemeConfig:
    """Return a theme with text in the page's ink: Streamlit's grey has a contrast of only 3.6."""
    return {
        "config": {
            # as Streamlit sets it, the first and the last label leave what they name
            "axis": {"labelColor": INK, "titleColor": INK, "labelFlush": False},
            "legend": {"labelColor": INK, "titleColor": INK},
            "header": {"labelColor": INK, "titleColor": INK},
        }
    }


def draw_small_map(trace: AttentionTrace, head: Head, *, key: str, alt: str) -> None:
    """Draw where a head looks in a sentence, in the colour of its kind."""
    axes = by_pieces(trace, head.kind)
    chart = small_map(
        axes.weights[head.layer, head.head],
        *axes.labels,
        title=f"{head.title} · {trace.source}",
        color=COLOR[head.kind],
        reads=axes.reads,
        writes=axes.writes,
    )
    altair_chart(chart, key=key, alt=alt)


def data_table(
    shown: pd.DataFrame,
    name: str,
    formats: Mapping[str, str],
    *,
    titles: Mapping[str, str] | None = None,
    saved: pd.DataFrame | None = None,
    height: int = 320,
) -> None:
    """Draw a table, its numbers in formats of Streamlit by column, and the menu that saves it.

    Some columns have other `titles`; where the table is not what is drawn, `saved` is.
    """
    number, titled = st.column_config.NumberColumn, titles or {}
    config = {column: number(titled.get(column), format=form) for column, form in formats.items()}
    key = f"{name}-table"
    st.dataframe(shown, hide_index=True, height=height, column_config=config, key=key)
    table_downloads(shown if saved is None else saved, name)


def table_downloads(table: pd.DataFrame, name: str) -> None:
    """Draw the menu of a table, whose files are called `headlight-NAME`."""
    title = f"Save {name.replace('-', ' ')}"
    with st.popover(title, key=f"save-{name}", width="content"):
        for form, write, ending, mime in (
            ("CSV", csv_bytes, "csv", "text/csv"),
            ("Parquet", parquet_bytes, "parquet", "application/vnd.apache.parquet"),
        ):
            st.download_button(
                f"{title} as {form}",
                partial(write, table),
                f"headlight-{name}.{ending}",
                mime,
                key=f"download-{name}-{ending}",
                on_click="ignore",
            )
