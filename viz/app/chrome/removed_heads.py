"""The field of the heads that are removed, whose text stands in the URL."""

import streamlit as st

from transformer.analysis.heads.removal_text import format_removals, parse_removals
from viz.app.chrome.fields import text_input
from viz.app.links.address import has_arrived, restate
from viz.app.links.navigation import REMOVED


def removed_field() -> str:
    """Draw the field, and return its text; earlier names in a link become those of the screen."""
    if has_arrived() or REMOVED not in st.session_state:
        linked = st.query_params.get(REMOVED, "")
        removals, wrong = parse_removals(linked, None)
        if not wrong and (text := format_removals(removals)) != linked:
            restate(REMOVED, text)
    return text_input(
        "Removed heads",
        key=REMOVED,
        help="Write L2 H4 cross, L1 H1 encoder: zeros replace their outputs. Add uniform, mean, z "
        "or weights for another replacement.",
        placeholder="e.g. L2 H4 cross, L1 H1 encoder",
        autocomplete="off",
    )


def choose_removed(text: str) -> None:
    """Set the heads that are off in the next run of the page, as the link has them."""
    st.session_state[REMOVED] = text
