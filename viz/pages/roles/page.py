"""What heads do: measured, and by what changes when they are taken away."""

from __future__ import annotations

from collections.abc import Callable

from viz.app.view_choice import choose_view
from viz.pages.roles.removal import take_away

VIEW = "roles_view"
"""Name in the URL."""

VIEWS: dict[str, Callable[[], None]] = {
    "Take away": take_away,
}


def show() -> None:
    """Draw the page: choose a view, then what it asks for."""
    VIEWS[choose_view(VIEW, VIEWS)]()
