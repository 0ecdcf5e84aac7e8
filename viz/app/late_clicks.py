"""A click in a picture of what is no longer in the bar: nothing is done, and the page says so."""

from __future__ import annotations

import streamlit as st

LATE = "That belonged to a sentence or model before: do it again in what stands here now."

_LATE = "late_clicks.late"


def say_late() -> None:
    """Let the next run say that a click came too late."""
    st.session_state[_LATE] = True


def show_late() -> None:
    """Say it, once."""
    if st.session_state.pop(_LATE, False):
        st.caption(LATE)
