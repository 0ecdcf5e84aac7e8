"""What heads do: measured, and by what changes when they are taken away."""

from __future__ import annotations

from collections.abc import Callable

from viz.app.view_choice import choose_view
from viz.pages.roles.faithful import faithful
from viz.pages.roles.layers import layer_by_layer
from viz.pages.roles.measured import measured
from viz.pages.roles.removal import take_away
from viz.pages.roles.view_names import FAITHFUL, LAYERS, ROLES, TAKE_AWAY, VIEW, WHY
from viz.pages.roles.why import why_this_word

VIEWS: dict[str, Callable[[], None]] = {
    ROLES: measured,
    TAKE_AWAY: take_away,
    WHY: why_this_word,
    LAYERS: layer_by_layer,
    FAITHFUL: faithful,
}


def show() -> None:
    """Draw the page: choose a view, then what it asks for."""
    VIEWS[choose_view(VIEW, VIEWS)]()
