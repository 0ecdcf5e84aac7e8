"""Architecture: the model as Figure 1 has it, its size, its cost, and the paper's tables."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import (
    architecture_drawing,
    architecture_norms,
    architecture_parameters,
    architecture_tables,
    architecture_work,
    sentence_bar,
)
from viz.architecture_drawing import NORMS, VIEW

TITLE = "Architecture"

DRAWING, PARAMETERS, WORK, TABLES = "drawing", "parameters", "work and memory", "tables 2 and 3"
VIEWS = (DRAWING, PARAMETERS, WORK, NORMS, TABLES)


def show() -> None:
    """Draw the page: the choice of a view, then the view."""
    row = st.container(
        key="arch-controls", horizontal=True, vertical_alignment="bottom", gap="small"
    )
    view = row.segmented_control(
        "View", VIEWS, default=DRAWING, required=True, key=VIEW, bind="query-params"
    )
    if view == PARAMETERS:
        architecture_parameters.show(row)
    elif view == WORK:
        architecture_work.show()
    elif view == NORMS:
        architecture_norms.show(row)
    elif view == TABLES:
        architecture_tables.show()
    else:
        _drawing(row)


def _drawing(row: DeltaGenerator) -> None:
    trace, found = sentence_bar.trace(), sentence_bar.found()
    if trace is not None and found is not None:
        architecture_drawing.show(row, found[0].model, trace)
