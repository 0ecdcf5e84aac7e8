"""The page “What heads do”: roles as measured, and the effect of removing heads."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from viz.app.chrome.fields import choose_one
from viz.app.links.navigation import FAITHFUL, LAYERS, REMOVE_HEADS, ROLES, VIEW, WHY
from viz.app.sentence import worth_seeing
from viz.pages.roles import corpus_roles, faithful, layer_by_layer, removal, why_this_word

VIEWS: dict[str, Callable[[], None]] = {
    ROLES: corpus_roles.show,
    REMOVE_HEADS: removal.show,
    WHY: why_this_word.show,
    LAYERS: layer_by_layer.show,
    FAITHFUL: faithful.show,
}

LEADS: dict[str, str] = {
    ROLES: "Click a head to open it.",
    REMOVE_HEADS: "Click a head to remove it, and again to put it back.",
    WHY: "Choose a step and an alternative.",
    LAYERS: "Each decoder layer is read as if it were the last.",
    FAITHFUL: "Erase words, or change the weights, and see how the translation's probability "
    "changes.",
}
"""First line of each view: an instruction, or a description of its picture."""


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    top = st.container()
    view = choose_one("View", VIEWS, VIEW)
    with top:
        worth_seeing.show("roles", view)
    st.text(LEADS[view])
    VIEWS[view]()
