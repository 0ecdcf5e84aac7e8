"""The page “What heads do”: roles as measured, and the effect of removing heads."""

from collections.abc import Sequence

import streamlit as st

from viz.app.chrome.fields import choose_one
from viz.app.links import address, moved
from viz.app.links.navigation import ROLES, VIEW
from viz.app.view import Page
from viz.pages.roles import corpus_roles, layer_by_layer, removal, why_this_word

_FAREWELL = "roles.farewell"  # in the session: what a link was answered, and its arrival


def _pick_view(label: str, views: Sequence[str], name: str) -> str:
    if sentence := moved.farewell(address.raw_value(name)):  # the widget drops it from the address
        st.session_state[_FAREWELL] = address.arrivals(), sentence
    view = choose_one(label, views, name)
    arrival, sentence = st.session_state.get(_FAREWELL, (-1, ""))
    if arrival == address.arrivals() and view == ROLES:
        st.text(sentence)
    return view


PAGE = Page(
    "roles",
    "",
    ("head", "encoder", "decoder", "cross-attention", "weight", "end", "loss", "nat"),
    (
        corpus_roles.roles,
        removal.remove_heads,
        why_this_word.why_this_word,
        layer_by_layer.layer_by_layer,
    ),
    menu=VIEW,
    pick=_pick_view,
)
