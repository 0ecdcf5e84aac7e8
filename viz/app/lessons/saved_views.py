"""Links to what the page shows: one to copy, and a list of views that is saved as a lesson."""

from urllib.parse import parse_qs

import streamlit as st

from viz.app.chrome.explanations import as_markdown
from viz.app.chrome.fields import button, text_input
from viz.app.lessons.library import language
from viz.app.links import address, navigation
from viz.app.streamlit_internals import query_string
from viz.draw.labels import PAGE_TITLES
from viz.lessons import lesson, reading, writing

_VIEWS, _NAME, _TEXT = "saved_views", "view-name", "view-sentence"


def copy_link() -> None:
    """Draw the button that copies the link: `js/share.js` does, as Python cannot."""
    st.html('<button type="button" data-copy-link>Copy link</button>')


def show(page: str) -> None:
    """Draw the list of saved views."""
    with st.popover("Views", key="views", type="tertiary"):
        views: list[writing.SavedView] = st.session_state.setdefault(_VIEWS, [])
        text_input("Name of this view", key=_NAME, most=80, in_link=False)
        text_input("Note (optional)", key=_TEXT, most=300, in_link=False)
        full = len(views) >= reading.MAX_CARDS
        button("Save this view", "save-view", _save, page, disabled=full)
        for number, saved in enumerate(views):
            with st.container(key=f"view-{number}", horizontal=True, vertical_alignment="center"):
                navigation.plain_link(saved.view.page, as_markdown(saved.name), saved.view.choices)
                button("Remove", f"view-remove-{number}", _remove, number, type="tertiary")
        if views:
            st.text("Saved views live only in this tab. Download them to keep them.")
            st.download_button(
                "Download as a lesson",
                lambda: writing.lesson_file(views, language()),  # on the click alone
                "saved-views.md",
                "text/markdown",
                on_click="ignore",
                key="views-download",
            )
        choices = {**st.query_params.to_dict(), address.PRESENT: "1"}
        navigation.plain_link(page, "Present this page", choices)


def _save(page: str) -> None:
    state = st.session_state
    query = parse_qs(query_string(), keep_blank_values=True)
    choices = {name: values for name, values in query.items() if name not in address.CARRIED}
    name = str(state.get(_NAME) or "").strip() or f"{PAGE_TITLES[page]} {len(state[_VIEWS]) + 1}"
    text = str(state.get(_TEXT) or "").strip()
    state[_VIEWS] = [*state[_VIEWS], writing.SavedView(name, text, lesson.View(page, choices))]
    state[_NAME] = state[_TEXT] = ""


def _remove(number: int) -> None:
    views: list[writing.SavedView] = st.session_state[_VIEWS]
    st.session_state[_VIEWS] = [*views[:number], *views[number + 1 :]]
