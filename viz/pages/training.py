"""Training: how the model was trained, any run while it goes on, and how its heads formed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from viz.training.curves import curves
from viz.training.forming import forming

TITLE = "Training"

VIEW = "training_view"
"""Name in the URL."""

VIEWS: dict[str, Callable[[], None]] = {"Curves": curves, "Heads forming": forming}


def show() -> None:
    """Draw the page: choose a view, then what it asks for."""
    view = st.segmented_control(
        "View",
        list(VIEWS),
        default="Curves",
        required=True,
        key=VIEW,
        bind="query-params",
        label_visibility="collapsed",
    )
    VIEWS[view or "Curves"]()
