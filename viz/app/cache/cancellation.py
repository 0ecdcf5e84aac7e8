"""Long work of a page ends with the page: when another text is typed, or the tab is closed."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_ANY = "cancellation.any"


def end_if_unwanted() -> None:
    """Let Streamlit end this run of the script where a newer one waits, or nobody does.

    Streamlit ends a run, by an exception of its own, when the script next asks it for something;
    long work asks from time to time.
    """
    if get_script_run_ctx(suppress_warning=True) is not None:
        _ = _ANY in st.session_state
