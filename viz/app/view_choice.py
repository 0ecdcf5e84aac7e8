"""The choice among the views of one page."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st


def choose_view(name: str, views: Iterable[str]) -> str:
    """Draw the choice among the views of a page; at first the first.

    Args:
        name: of the choice in the URL.
        views: their names.
    """
    names = list(views)
    view = st.segmented_control(
        "View",
        names,
        default=names[0],
        required=True,
        key=name,
        bind="query-params",
        label_visibility="collapsed",
    )
    return view or names[0]
