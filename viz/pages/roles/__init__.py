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

_FAREWELL = "roles.farewell"  # in the session: what a link was answered, and its arrival


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    row = worth_seeing.begin()
    if sentence := moved.farewell(address.raw_value(VIEW)):  # the widget drops it from the address
        st.session_state[_FAREWELL] = address.arrivals(), sentence
    view = choose_one("View", VIEWS, VIEW)
    arrival, sentence = st.session_state.get(_FAREWELL, (-1, ""))
    if arrival == address.arrivals() and view == ROLES:
        st.text(sentence)
    worth_seeing.show("roles", view, FINDINGS.get(view), row)
    VIEWS[view]()
