"""Undo and redo of removed heads, within one session."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from viz.app.links.undo import History

_HISTORY = "removal.history"


def history_of_session() -> History[str]:
    """Return the history of this reader: the texts of the link."""
    history: History[str] = st.session_state.setdefault(_HISTORY, History())
    return history


def undo_buttons(history: History[str], choose: Callable[[str], None]) -> None:
    """Draw undo, redo and “all back”.

    Args:
        history: the history, which includes the state of now.
        choose: the function that takes the text of the link of the next run.
    """
    st.button(
        "Undo",
        key="removal-undo",
        disabled=not history.before,
        on_click=lambda: choose(history.undo() or ""),
    )
    st.button(
        "Redo",
        key="removal-redo",
        disabled=not history.undone,
        on_click=lambda: choose(history.redo() or ""),
    )
    st.button("All back", key="removal-none", disabled=not history.now, on_click=lambda: choose(""))
