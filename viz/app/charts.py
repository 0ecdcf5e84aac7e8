"""Charts of Altair in Streamlit, quicker than `st.altair_chart`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import altair
import streamlit as st
from streamlit.elements import vega_charts


def altair_chart(
    chart: altair.TopLevelMixin,
    *,
    key: str,
    alt: str,
    on_select: Literal["ignore", "rerun"] | Callable[[], None] = "ignore",
) -> None:
    """Draw a chart without comparing it with the schema of Vega-Lite, which takes most of the time.

    Args:
        chart: of small tables: they travel in the message.
        key: names the chart in the session.
        alt: what it shows, for who cannot see it.
        on_select: as `st.altair_chart` takes it.
    """
    draw_spec(spec_of(chart), key=key, alt=alt, on_select=on_select)


def spec_of(chart: altair.TopLevelMixin) -> dict[str, Any]:
    """What a browser draws: the chart with its data and the theme of the app."""
    # How Altair reads a table is a setting of the whole process, and st.altair_chart changes it
    # while it draws for another reader. Streamlit has no public name for the lock that it holds
    # meanwhile; without it, the other chart would take this one's table.
    with (
        vega_charts._altair_globals_lock,
        altair.data_transformers.enable("default", max_rows=None),
    ):
        spec: dict[str, Any] = chart.to_dict(validate=False)
    return spec


def draw_spec(
    spec: dict[str, Any],
    *,
    key: str,
    alt: str,
    on_select: Literal["ignore", "rerun"] | Callable[[], None] = "ignore",
) -> None:
    """Draw what `spec_of` gave, which stays as it is."""
    st.vega_lite_chart(spec=spec, key=key, alt=alt, on_select=on_select)
