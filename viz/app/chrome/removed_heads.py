"""The field of the heads that are removed, whose text stands in the URL."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import parse_removals
from transformer.model import Transformer
from viz.app.chrome.fields import text_input
from viz.app.links.navigation import REMOVED

_NAMED = 12  # heads under the field; more would push the map away


def removed_field(model: Transformer) -> str:
    """Draw the field, with the names of its heads below; return its text."""
    removed = text_input(
        "Removed heads (link code)",
        key=REMOVED,
        help="Write L2 H4 cross-attention, or c1.3 as in the link, which counts from 0 (e: "
        "encoder, d: decoder, c: cross-attention; then u: uniform, m: mean, z or w: patched).",
        placeholder="none",
        autocomplete="off",
    )
    if off := parse_removals(removed, model)[0]:
        st.caption(_screen_names(off))
    return removed


def choose_removed(text: str) -> None:
    """Set the heads that are off in the next run of the page, as the link has them."""
    st.session_state[REMOVED] = text


def _screen_names(removals: Sequence[Removal]) -> str:
    """Name the heads that are off as the maps do, which count from 1."""
    named = ", ".join(removal.place.title for removal in removals[:_NAMED])
    more = len(removals) - _NAMED
    return f"That is {named}{f', and {more} more' if more > 0 else ''}."
