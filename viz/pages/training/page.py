"""Training: how the model was trained, any run while it goes on, and how its heads formed."""

from __future__ import annotations

from collections.abc import Callable

from viz.app.view_choice import choose_view
from viz.pages.training.curves import curves
from viz.pages.training.heads_forming import heads_forming

VIEW = "training_view"
"""Name in the URL."""

VIEWS: dict[str, Callable[[], None]] = {"Heads forming": heads_forming, "Curves": curves}


def show() -> None:
    """Draw the page: choose a view, then what it asks for."""
    choose_view(VIEW, VIEWS)
