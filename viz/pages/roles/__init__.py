"""The page “What heads do”: roles as measured, and the effect of removing heads."""

from __future__ import annotations

from collections.abc import Callable

from viz.app.chrome.fields import choose_one
from viz.app.links.navigation import FAITHFUL, LAYERS, REMOVE_HEADS, ROLES, VIEW, WHY
from viz.pages.roles import corpus_roles, faithful, layer_by_layer, removal, why_this_word

VIEWS: dict[str, Callable[[], None]] = {
    ROLES: corpus_roles.show,
    REMOVE_HEADS: removal.show,
    WHY: why_this_word.show,
    LAYERS: layer_by_layer.show,
    FAITHFUL: faithful.show,
}


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    VIEWS[choose_one("View", VIEWS, VIEW)]()
