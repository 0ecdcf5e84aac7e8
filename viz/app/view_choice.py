"""The choice among the views of one page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st


def choose_view(name: str, views: Mapping[str, Callable[[], object]]) -> None:
    """Draw the choice among the views of a page, then the chosen one; at first the first.

    Args:
        name: of the choice in the URL.
        views: what draws each of them.
    """
    first = next(iter(views))
    view = st.segmented_control(
        "View",
        list(views),
        default=first,
        required=True,
        key=name,
        bind="query-params",
        label_visibility="collapsed",
    )
    views[view or first]()
