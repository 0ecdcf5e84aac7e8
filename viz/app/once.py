"""What was computed from a trace, kept for the next run of the page's script."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import streamlit as st

from transformer import AttentionTrace

T = TypeVar("T")
_KEPT = "once.kept"


def once(trace: AttentionTrace, name: Hashable, make: Callable[[], T]) -> T:
    """The same as `make()`, made once for each name while this trace is on the page.

    One trace is kept for each person: what belongs to the one before goes with it.
    """
    kept_for, kept = st.session_state.get(_KEPT, (None, {}))
    if kept_for is not trace:
        kept = {}
        st.session_state[_KEPT] = (trace, kept)
    found: dict[Hashable, Any] = kept
    if name not in found:
        found[name] = make()
    value: T = found[name]
    return value
