"""Architecture: the model as Figure 1 has it, its size, its cost, and the paper's tables."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.app import sentence_bar
from viz.app.fields import choose_one
from viz.pages.architecture import drawing, norms, parameters, tables, work
from viz.pages.architecture.drawing import NORMS, VIEW

DRAWING, PARAMETERS, WORK, TABLES = "drawing", "parameters", "work and memory", "tables 2 and 3"
VIEWS = (DRAWING, PARAMETERS, WORK, NORMS, TABLES)


def show() -> None:
    """Draw the page: the choice of a view, then the view."""
    row = st.container(
        key="arch-controls", horizontal=True, vertical_alignment="bottom", gap="small"
    )
    with row:
        view = choose_one("View", VIEWS, VIEW)
    if view == PARAMETERS:
        parameters.show(row)
    elif view == WORK:
        work.show()
    elif view == NORMS:
        norms.show(row)
    elif view == TABLES:
        tables.show()
    else:
        _drawing(row)


def _drawing(row: DeltaGenerator) -> None:
    if (bar := sentence_bar.traced()) is not None:
        drawing.show(row, bar.translator.model, bar.trace)
