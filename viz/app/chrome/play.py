"""The button that moves a slider by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import streamlit as st


def play_button(slider: str, values: Sequence[int], index: int) -> None:
    """Draw the button that moves a slider on, a value each second, to the last.

    The slider is named by its key, and `index` is the place of the value that it shows.
    """
    state, name, is_last = st.session_state, f"{slider}.playing", index == len(values) - 1
    playing = state[name] = bool(state.get(name)) and not is_last

    def toggle() -> None:
        state[name] = not playing
        if is_last:
            state[slider] = values[0]

    st.button(
        "Pause" if playing else "Play",
        on_click=toggle,
        icon=":material/pause:" if playing else ":material/play_arrow:",
        key=f"{slider}-play",
    )
    if playing:
        st.fragment(_advance, run_every="1s")(slider, values[index + 1], count())


def _advance(slider: str, value: int, calls: Iterator[int]) -> None:
    """Move to a value, but for the first call, with which the page draws the fragment."""
    if next(calls):
        st.session_state[slider] = value
        st.rerun()
