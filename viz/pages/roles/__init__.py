"""The page “What heads do”: roles as measured, and the effect of removing heads."""

from collections.abc import Callable

import streamlit as st

from viz.app.chrome.fields import choose_one
from viz.app.links import address, moved
from viz.app.links.navigation import LAYERS, REMOVE_HEADS, ROLES, VIEW, WHY
from viz.app.sentence import worth_seeing
from viz.findings import FromModel
from viz.pages.roles import corpus_roles, layer_by_layer, removal, why_this_word

VIEWS: dict[str, Callable[[], None]] = {
    ROLES: corpus_roles.show,
    REMOVE_HEADS: removal.show,
    WHY: why_this_word.show,
    LAYERS: layer_by_layer.show,
}
FINDINGS: dict[str, FromModel] = {WHY: why_this_word.find_edge}
"""By view: what it finds with its own results; “Remove heads” has the finding of the page."""


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    top = st.container(key="page-question")
    gone = moved.farewell(address.raw_value(VIEW))
    view = choose_one("View", VIEWS, VIEW)
    if gone:
        st.text(gone)
    with top:
        worth_seeing.show("roles", view, FINDINGS.get(view))
    VIEWS[view]()
