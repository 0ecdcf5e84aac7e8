"""The one component that draws all pictures: the only call of `st.components.v2`.

Its script is loaded once, by an address that changes with its content; a message holds no program
text. Streamlit finds the script through `headlight/pyproject.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.errors import StreamlitAPIException

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

COMPONENT = "headlight.pictures"
SCRIPT = "headlight-*.js"
NOT_INSTALLED = (
    "Streamlit does not find the script of the pictures: install Headlight with `pip install -e .` "
    "in its folder, then start the app again."
)


def mount(key: str, data: bytes, picked: Callable[[object], None] | None = None) -> None:
    """Put a component on the page; `picked` takes what the browser sends, whatever that is."""
    try:
        pictures = _pictures()
    except StreamlitAPIException:
        st.error(NOT_INSTALLED)
        return
    if picked is None:
        pictures(key=key, data=data)
    else:
        pictures(
            key=key,
            data=data,
            on_picked_change=lambda: picked(st.session_state[key].get("picked")),
        )


@cache
def _pictures() -> ComponentRenderer:
    """The component that draws all of them: the data say which.

    Raises:
        StreamlitAPIException: if Streamlit does not find the folder with the script, or no script
            in it.
    """
    # not when this module is imported: only a running app knows the folder. The shadow root keeps
    # Streamlit's styles out and these in
    return st.components.v2.component(COMPONENT, js=SCRIPT)
