"""Charts of heads that open a head by a click; what a browser sends is validated."""

from __future__ import annotations

import altair as alt
import streamlit as st

from transformer.analysis.heads.head import Head
from transformer.kinds import Kind
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.head_picker import open_head

PICKED = "picked"
"""Name of the Vega selection of a click, with the fields `layer` and `head` from 0."""


def draw_clickable(
    chart: alt.Chart | alt.LayerChart,
    name: str,
    kind: Kind,
    opened: Head,
    shape: tuple[int, int],
    alt_text: str,
) -> None:
    """Draw a chart with the selection `PICKED`, whose clicks open a head of this kind."""
    # a second click on the same head would only clear its selection: a new key for each open head
    # starts the chart without a selection
    key = f"{name}-{kind}-{f'{opened.layer}.{opened.head}' if opened.kind == kind else ''}"

    def clicked() -> None:
        place = clicked_head(st.session_state.get(key), shape)
        if place is not None:  # a click outside the cells selects nothing
            open_head(Head(kind, *place))

    altair_chart(chart, key=key, on_select=clicked, alt=alt_text)


def clicked_head(state: object, shape: tuple[int, int]) -> tuple[int, int] | None:
    """Return layer and head of a click, or None where the browser sends anything else.

    Args:
        state: the value that Streamlit holds under the key of the chart.
        shape: numbers of layers and heads.
    """
    selection = state.get("selection") if isinstance(state, dict) else None
    points = selection.get(PICKED) if isinstance(selection, dict) else None
    if not (isinstance(points, list) and points and isinstance(points[0], dict)):
        return None
    layer, head = points[0].get("layer"), points[0].get("head")
    if type(layer) is not int or type(head) is not int:
        return None
    return (layer, head) if 0 <= layer < shape[0] and 0 <= head < shape[1] else None
