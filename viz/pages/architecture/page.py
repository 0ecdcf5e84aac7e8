"""Architecture: the model as Figure 1 has it, its size, its cost, and the paper's tables."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.app.chrome.fields import choose_one
from viz.pages.architecture import drawing, norms, parameters, tables, work
from viz.pages.architecture.drawing import NORMS, VIEW

DRAWING, PARAMETERS, WORK, TABLES = "drawing", "parameters", "work and memory", "tables 2 and 3"

VIEWS: dict[str, Callable[[DeltaGenerator], None]] = {
    DRAWING: drawing.show,
    PARAMETERS: parameters.show,
    WORK: lambda _row: work.show(),
    NORMS: norms.show,
    TABLES: lambda _row: tables.show(),
}


def show() -> None:
    """Draw the page: choose a view, then what it asks for."""
    row = st.container(
        key="arch-controls", horizontal=True, vertical_alignment="bottom", gap="small"
    )
    with row:
        view = choose_one("View", VIEWS, VIEW)
    VIEWS[view](row)
