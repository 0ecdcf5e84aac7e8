"""The page “What heads do”: roles as measured, and the effect of removing heads."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from viz.app.chrome.fields import choose_one
from viz.app.chrome.terms import help_on
from viz.app.links.navigation import FAITHFUL, LAYERS, REMOVE_HEADS, ROLES, VIEW, WHY
from viz.pages.roles import corpus_roles, faithful, layer_by_layer, removal, why_this_word

VIEWS: dict[str, Callable[[], None]] = {
    ROLES: corpus_roles.show,
    REMOVE_HEADS: removal.show,
    WHY: why_this_word.show,
    LAYERS: layer_by_layer.show,
    FAITHFUL: faithful.show,
}


QUESTIONS: dict[str, str] = {
    ROLES: "**What does each head do most?** Click a head to open it.",
    REMOVE_HEADS: "**What changes without a head?** Click a head to remove it, and again to put it "
    "back.",
    WHY: "**What speaks for this word rather than another?** Choose a step and an alternative.",
    LAYERS: "**What would each layer write?** Each decoder layer is read as if it were the last.",
    FAITHFUL: "**Do large weights mark the words that matter?** Erase words, or change the "
    "weights, and see how the translation's probability changes.",
}
"""Question of each view, and the reader's first action."""


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    view = choose_one("View", VIEWS, VIEW)
    st.markdown(QUESTIONS[view], help=help_on("roles"))
    VIEWS[view]()
