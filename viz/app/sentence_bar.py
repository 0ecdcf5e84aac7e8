"""The two lines that stay on every page: the English sentence and its translation."""

from __future__ import annotations

from urllib.parse import quote_plus

import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translation, Translator
from viz.app import serving
from viz.app.formatting import format_number

TEXT, BEAM = "text", "beam"
"""Names in the URL."""

BEAMS = (1, 2, 4, 8)
MAX_LINK_CHARACTERS = 8_000
"""Characters of a sentence in a URL; a server refuses a request line of more than 16 kB."""

_ASKED = "sentence_bar.asked"
_TRANSLATED = "sentence_bar.translated"
_IN_LINK = "sentence_bar.in_link"
_PAGE = "sentence_bar.page"


def show(page: str) -> None:
    """Draw the bar, translate what stands in it, and store the result for the page below.

    Args:
        page: what tells the page below from the others.
    """
    _carry_to_page(page)
    # what the last run found must not be drawn for a text that now fails
    st.session_state[_TRANSLATED] = None
    with st.container(key="sentence-bar", gap="small"):
        text, beam_size = _inputs()
        with st.container(key="german", gap=None):
            _answer(text, beam_size)
        if not st.session_state[_IN_LINK]:
            with st.container(key="no-link"):
                st.text("The text is too long for a link: reloading the page loses it.")


def translated() -> tuple[Translator, Translation] | None:
    """What this run translated, or None where the bar has said why it could not."""
    result: tuple[Translator, Translation] | None = st.session_state.get(_TRANSLATED)
    return result


def trace() -> AttentionTrace | None:
    """The attention on this run's sentence; None after saying on the page why there is none."""
    if (result := translated()) is None:
        with st.container(key="no-picture"):
            st.text("Without a translation there is nothing to draw.")
        return None
    try:
        return serving.trace(*result)
    except HeadlightError as error:
        with st.container(key="no-picture"):
            st.text(str(error))
        return None


def _carry_to_page(page: str) -> None:
    """Carry sentence and beam to another page, however early the click on it.

    The browser carries them in the address, but only once the bar of the first page has reached it.
    """
    asked = st.session_state.setdefault(_ASKED, st.query_params.to_dict())
    before = st.session_state.get(_PAGE, page)
    st.session_state[_PAGE] = page
    if before == page:
        return
    allowed = {str(beam_size): beam_size for beam_size in BEAMS}
    for name, linked in (
        (TEXT, asked.get(TEXT)),
        (BEAM, allowed.get(asked.get(BEAM, ""))),
    ):
        if name in st.query_params:
            continue
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]  # puts it into the address as well
        elif linked is not None:
            st.session_state[name], st.query_params[name] = linked, str(linked)


def _inputs() -> tuple[str, int]:
    # a sentence that would make the URL too long for a reload stays out of it
    text = st.session_state.get(TEXT)
    in_link = len(quote_plus(text or "", errors="replace")) <= MAX_LINK_CHARACTERS
    if in_link and not st.session_state.get(_IN_LINK, True):
        st.session_state[TEXT] = text  # short again: setting it puts it back into the URL
    st.session_state[_IN_LINK] = in_link
    with st.container(key="inputs", horizontal=True, vertical_alignment="bottom", gap="small"):
        typed = st.text_area(
            "English",
            serving.EXAMPLES[0],
            key=TEXT,
            height="content",
            bind="query-params" if in_link else None,
            placeholder="Type an English sentence",
        )
        st.menu_button("Examples", serving.EXAMPLES, key="example", on_click=_take_example)
        beam_size = st.selectbox(
            "Beam",
            BEAMS,
            index=BEAMS.index(4),
            key=BEAM,
            bind="query-params",
            width=120,
        )
    return typed or "", beam_size


def _take_example() -> None:
    st.session_state[TEXT] = st.session_state["example"]


def _answer(text: str, beam_size: int) -> None:
    """The German line: a translation, or the one sentence that says why there is none."""
    try:
        # comes after half a second; what stood here stays until then (style.css takes it away)
        with st.spinner("Translating…"):
            translator = serving.load()
            translation = serving.translate(translator, text, beam_size)
    except HeadlightError as error:
        _line("", str(error), "problem")
        return
    st.session_state[_TRANSLATED] = translator, translation
    pieces = len(translation.best.pieces)
    count = f"{pieces} {'piece' if pieces == 1 else 'pieces'}"
    _line(
        f"log p {format_number(translation.log_prob)} · {count} · "
        f"{translation.seconds * 1000:.0f} ms",
        translation.text or "(The model ended the sentence before its first word.)",
        "translation",
    )
    if translation.notices:
        with st.container(key="notices", gap=None):
            for notice in translation.notices:
                st.text(notice)


def _line(figures: str, text: str, key: str) -> None:
    # st.text, never Markdown: what a person types is shown as it is
    with st.container(key="german-line", horizontal=True, gap="small"):
        with st.container(key="german-label", width="content"):
            st.text("German")
        with st.container(key=key):
            st.text(text)
        if figures:
            with st.container(key="figures", width="content"):
                st.text(figures)
