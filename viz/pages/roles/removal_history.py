"""Undo and redo of the heads that are taken away, within one session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

MOST_STEPS = 200
_HISTORY = "removal.history"


@dataclass
class History:
    """Texts of a link that were, that is, and that were undone.

    Args:
        now: the last that was seen; None before the first.
        undone: the last one last.
    """

    now: str | None = None
    before: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)

    def see(self, text: str) -> None:
        """Note what is there, however it came there: by a click, a link or the Back button."""
        if text == self.now:
            return
        if self.now is not None:
            self.before = [*self.before, self.now][-MOST_STEPS:]
            self.undone = []
        self.now = text

    def undo(self) -> str:
        """The text before; the one that is now can be redone."""
        if self.before:  # a second click can come before the button is out
            self.undone.append(self.now or "")
            self.now = self.before.pop()
        return self.now or ""

    def redo(self) -> str:
        """The text that was undone last."""
        if self.undone:
            self.before.append(self.now or "")
            self.now = self.undone.pop()
        return self.now or ""


def of_session() -> History:
    """The history of this reader."""
    history: History = st.session_state.setdefault(_HISTORY, History())
    return history


def buttons(history: History, choose: Callable[[str], None]) -> None:
    """Draw undo, redo and “all back”.

    Args:
        history: has seen what is there now.
        choose: takes the text of a link that is to be there in the next run.
    """
    st.button(
        "Undo",
        key="removal-undo",
        icon=":material/undo:",
        disabled=not history.before,
        on_click=lambda: choose(history.undo()),
    )
    st.button(
        "Redo",
        key="removal-redo",
        icon=":material/redo:",
        disabled=not history.undone,
        on_click=lambda: choose(history.redo()),
    )
    st.button("All back", key="removal-none", disabled=not history.now, on_click=lambda: choose(""))
