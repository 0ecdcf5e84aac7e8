"""Presentation mode: `present=1` in the address gives larger type, and the page to the picture."""

import streamlit as st

from viz.app.links import address
from viz.app.links.address import PRESENT

MARK = "<i data-present hidden></i>"
"""Element by which the style sheet and `js/share.js` know that the page is presented."""


def is_on() -> bool:
    """Return whether the page is presented."""
    return st.query_params.get(PRESENT) == "1"


def mark() -> None:
    """Draw the mark, and the button that ends it."""
    if not is_on():
        return
    with st.container(key="presenting", horizontal=True):
        st.html(MARK)
        st.button(
            "End", key="present-end", type="tertiary", on_click=address.choose, args=(PRESENT, None)
        )
