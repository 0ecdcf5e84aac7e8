"""The pages of the app by their paths in the URL, and links from one to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

TITLES = {
    "translate": "Translate",
    "heads": "Heads",
    "inside": "Inside a head",
    "roles": "What heads do",
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


MAX_TITLE = 60
"""Characters of the sentence in the title of the browser's tab."""


def name_page(heading: DeltaGenerator, path: str, sentence: str) -> None:
    """Name page and sentence, in the browser's tab and as the heading of the page.

    Args:
        heading: where the heading goes; the style sheet shows it where the navigation is a menu.
        path: one of `TITLES`.
        sentence: as it was typed.
    """
    sentence = " ".join(sentence.split())
    if len(sentence) > MAX_TITLE:
        sentence = f"{sentence[: MAX_TITLE - 1].rstrip()}…"
    named = [TITLES[path], sentence] if sentence else [TITLES[path]]
    st.set_page_config(page_title=" · ".join([*named, "Headlight"]))
    about = f"<span> · {escape(sentence)}</span>" if sentence else ""
    heading.html(f"<h1>{TITLES[path]}{about}</h1>")


def link(path: str, why: str, choices: Mapping[str, str]) -> None:
    """Draw a link to a page, on which the sentence stays and some choices are made.

    Args:
        path: one of `TITLES`.
        why: what the page has to say here, in Markdown of our own.
        choices: what is to stand in the URL of the page, beside the sentence.
    """
    # Streamlit finds the page of a link by its path alone, whatever draws it
    st.page_link(page(path, lambda: None), label=f"{TITLES[path]}: {why}", query_params=choices)
