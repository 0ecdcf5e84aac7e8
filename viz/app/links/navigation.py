"""The pages of the app by their paths in the URL, and links from one to another."""

from collections.abc import Callable, Mapping, Sequence
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.app.links import address
from viz.draw.labels import PAGE_TITLES, SECTIONS

VIEW = "roles_view"  # name in the URL of the choice among the views of “What heads do”

ROLES, REMOVE_HEADS = "Roles", "Remove heads"  # those to which other pages lead

CORPUS_VIEW = "corpus_view"
"""Name in the URL of the choice among the views of “Corpus”, which has “Remove heads” as well."""

ONE_HEAD = "One head"


REMOVED = "removed"  # name in the URL of the heads that the view “Remove heads” removes


def page(path: str, show: Callable[[], None], *, default: bool = False) -> st.Page:
    """Make a page as Streamlit's navigation takes it; the empty path opens the default one."""
    return st.Page(show, title=PAGE_TITLES[path], url_path=path, default=default)


HEADLINE = "<b>Headlight</b> Watch a Transformer translate, word by word"
"""The heading of the first page; other pages begin with a question."""

MAX_TITLE = 60  # characters of the sentence in the title of the browser's tab


def set_page_title(heading: DeltaGenerator, path: str, sentence: str) -> None:
    """Show page and sentence in the tab of the browser, and as the heading for screen readers."""
    sentence = " ".join(sentence.split())
    if len(sentence) > MAX_TITLE:
        sentence = f"{sentence[: MAX_TITLE - 1].rstrip()}…"
    named = [PAGE_TITLES[path], sentence] if sentence else [PAGE_TITLES[path]]
    st.set_page_config(page_title=" · ".join([*named, "Headlight"]))
    about = f"<span> · {escape(sentence)}</span>" if sentence else ""
    section = next(name for name, paths in SECTIONS.items() if path in paths)
    name = HEADLINE if path == "translate" else PAGE_TITLES[path]
    heading.html(f'<h1 data-section="{section}">{name}{about}</h1>')


def link(path: str, action: str, choices: Mapping[str, str]) -> None:
    """Draw a link to a page with these choices; `action` is a verb and more, in Markdown."""
    plain_link(path, f"{action} →", choices)


def plain_link(path: str, label: str, choices: Mapping[str, str | Sequence[str]]) -> None:
    """Draw a link to a page; see `link`."""
    # Streamlit finds the page of a link by its path alone, whatever draws it
    st.page_link(
        page(path, lambda: None), label=label, query_params=address.link_query(path, choices)
    )
