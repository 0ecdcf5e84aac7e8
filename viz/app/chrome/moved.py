"""Views that are gone, and where what they showed is now."""

from collections.abc import Sequence

import streamlit as st

from viz.app.chrome.fields import choose_one
from viz.app.links import address
from viz.app.links.navigation import CORPUS_VIEW, VIEW

_GONE = {
    (VIEW, "Faithful?"): "The view Faithful? has left the app: headlight evaluate faithfulness "
    "tests how well lenses find the words that matter.",
    (CORPUS_VIEW, "Compare"): "The view Compare has left the app: headlight evaluate lines "
    "measures the same lines with each model, and heads_table in Python has the numbers of each.",
}
"""A sentence by the menu in the link and the view that it names."""

_FAREWELL = "moved.farewell"  # in the session: menu and arrival of a link, and the answer


def choose_view(label: str, views: Sequence[str], name: str) -> str:
    """Draw the menu of views, and say where a view went that the link names."""
    named = address.raw_value(name)  # the widget drops it from the address
    if named and (sentence := _GONE.get((name, named))):
        st.session_state[_FAREWELL] = name, address.arrivals(), sentence
    view = choose_one(label, views, name)
    *answered, sentence = st.session_state.get(_FAREWELL, ("", 0, ""))
    if answered == [name, address.arrivals()] and view == views[0]:
        st.text(sentence)
    return view
