"""The fields of a request to the search beside sentence and beam, bound to the URL."""

from __future__ import annotations

import streamlit as st

from transformer.decoding import ALPHA
from viz.app.address import MAX_TYPED
from viz.app.fields import text_input
from viz.app.search_request import ALPHA as ALPHA_NAME
from viz.app.search_request import ALPHAS, EDITED, FORBID, PREFIX


def draw_settings() -> tuple[float, str]:
    """Draw α and the forbidden words, behind one button."""
    with st.popover("Search", key="search-settings"):
        alpha = st.slider(
            "Length penalty α",
            *ALPHAS,
            ALPHA,
            0.1,
            key=ALPHA_NAME,
            bind="query-params",
            help="A hypothesis is ranked by log p / ((5 + pieces) / 6)^α (§6.1): the larger α, "
            "the longer the translation; 0 is no penalty.",
        )
        forbid = text_input(
            "Forbidden words",
            key=FORBID,
            live="250ms",
            autocomplete="off",
            placeholder="none; several with blanks between",
            help="No translation contains these words as they are written; upper case counts. "
            "A longer word that begins with one is another word.",
        )
    return alpha, forbid


def draw_hidden(in_link: bool) -> tuple[str, str]:
    """The prefix and the translation edited by hand, which a click on a picture or the editor sets.

    Args:
        in_link: whether the texts fit into the address.
    """
    with st.container(key="steering-fields"):  # which the style sheet takes away
        prefix = text_input("Forced prefix, in pieces", key=PREFIX)
        edited = text_input(
            "Translation edited by hand", key=EDITED, most=MAX_TYPED, in_link=in_link
        )
    return prefix, edited
