"""What a click on the page asks of the search: a prefix that is forced, or a whole translation."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from transformer.config import EOS
from transformer.tokenizer import SPECIAL, Tokenizer
from viz.app import search_request

LATE = "That belonged to a sentence that has changed since: do it again in what stands here now."

_LATE = "translate.late"


def force(tokenizer: Tokenizer, pieces: Sequence[str]) -> None:
    """Let the next run begin with these pieces; with the end among them, it is the whole.

    Args:
        tokenizer: of the target. What waits for a click stays in memory with the tab, so it holds
            no model.
    """
    *before, last = pieces
    if last == SPECIAL[EOS]:
        search_request.edit(tokenizer.decode(tokenizer.ids_of(before)))
    else:
        search_request.force(pieces)


def say_late() -> None:
    """Let the next run say that a click came too late."""
    st.session_state[_LATE] = True


def show_late() -> None:
    """Say it, once."""
    if st.session_state.pop(_LATE, False):
        st.caption(LATE)
