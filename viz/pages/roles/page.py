"""What heads do: measured, and by what changes when they are taken away."""

from __future__ import annotations

from collections.abc import Callable

from viz.app.view_choice import choose_view
from viz.pages.roles.layers import layer_by_layer
from viz.pages.roles.removal import take_away
from viz.pages.roles.why import why_this_word

VIEW = "roles_view"
"""Name in the URL."""

VIEWS: dict[str, Callable[[], None]] = {
    "Take away": take_away,
    "Why this word": why_this_word,
    "Layer by layer": layer_by_layer,
}


def show() -> None:
    """Draw the page: choose a view, then what it asks for."""
    VIEWS[choose_view(VIEW, VIEWS)]()
