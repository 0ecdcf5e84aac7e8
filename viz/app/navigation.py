"""The pages of the app by their paths in the URL, and links from one to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

TITLES = {
    "translate": "Translate",
    "heads": "Heads",
    "inside": "Inside a head",
    "masks": "Masks",
    "positions": "Positions",
    "schedule": "Schedule",
    "training": "Training",
    "architecture": "Architecture",
}
"""By the path in the URL, in the order of the navigation."""


def page(path: str, show: Callable[[], None], *, default: bool = False) -> st.Page:
    """One page as Streamlit's navigation takes it.

    Args:
        path: one of `TITLES`.
        show: draws it.
        default: whether the address without a path opens it.
    """
    return st.Page(show, title=TITLES[path], url_path=path, default=default)


def link(path: str, why: str, choices: Mapping[str, str]) -> None:
    """Draw a link to a page, on which the sentence stays and some choices are made.

    Args:
        path: one of `TITLES`.
        why: what the page has to say here, in Markdown of our own.
        choices: what is to stand in the URL of the page, beside the sentence.
    """
    # Streamlit finds the page of a link by its path alone
    st.page_link(page(path, _not_drawn), label=f"{TITLES[path]}: {why}", query_params=choices)


def _not_drawn() -> None:
    """Stands for what draws the page, which a link does not need."""
