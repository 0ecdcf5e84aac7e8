"""The way from one page to another, with the sentence and a choice along."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from viz.pages import heads, inside, masks, positions, training, translate

ROOMS: dict[str, tuple[str, Callable[[], None]]] = {
    "translate": ("Translate", translate.show),
    "heads": ("Heads", heads.show),
    "inside": ("Inside a head", inside.show),
    "masks": ("Masks", masks.show),
    "positions": ("Positions", positions.show),
    "training": ("Training", training.show),
}
"""Title and function of the pages that others lead to, by their place in the URL."""


def title(room: str) -> str:
    """What a page is called in the navigation."""
    return ROOMS[room][0]


def link(room: str, label: str, choices: Mapping[str, str]) -> None:
    """Draw a link to a page, on which the sentence stays and some choices are made.

    Args:
        room: one of `ROOMS`.
        label: of the link, in Markdown of our own.
        choices: what is to stand in the URL of the page, beside the sentence.
    """
    _, show = ROOMS[room]
    st.page_link(st.Page(show, title=title(room), url_path=room), label=label, query_params=choices)
