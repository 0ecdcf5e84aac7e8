"""The pages of the app as Streamlit knows them, and the way from one to another."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

import streamlit as st

from viz.pages import heads, inside, masks, positions, training, translate


def path(page: ModuleType) -> str:
    """Its place in the URL: the name of its module."""
    return page.__name__.rpartition(".")[2]


def registered(page: ModuleType, *, default: bool = False) -> st.Page:
    """A module with a `TITLE` and a function `show` as a page of the navigation."""
    return st.Page(page.show, title=page.TITLE, url_path=path(page), default=default)


PAGES = {path(page): page for page in (translate, heads, inside, masks, positions, training)}
"""The pages that others lead to, by their place in the URL."""


def link(name: str, why: str, choices: Mapping[str, str]) -> None:
    """Draw a link to a page, on which the sentence stays and some choices are made.

    Args:
        name: one of `PAGES`.
        why: what the page has to say here, in Markdown of our own.
        choices: what is to stand in the URL of the page, beside the sentence.
    """
    page = PAGES[name]
    st.page_link(registered(page), label=f"{page.TITLE}: {why}", query_params=choices)
