"""Sentence and beam of a link reach another page, however early the click on it comes."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import in_url, texts
from viz.app.sentence import sentence_bar

SENTENCE = "The dog sleeps in the garden."


def bar() -> None:
    import streamlit as st

    from viz.app.links import address
    from viz.app.sentence import sentence_bar

    visited = st.session_state.get("visited")
    st.session_state[address.PAGE_CHANGED] = visited is not None
    sentence_bar.show(visited or "heads")


def visit(app: AppTest, page: str) -> None:
    """Walk to a page; the browser, which has not heard of the bar yet, leaves its values behind."""
    app.query_params.clear()
    app.session_state["visited"] = page
    app.run()


def test_so_does_what_the_bar_had_no_time_to_take(serve, translator, monkeypatch) -> None:
    with monkeypatch.context() as early:
        early.setattr(sentence_bar, "_inputs", st.stop)  # the click ends the run here
        app = serve(bar, text=SENTENCE, beam="2")
    visit(app, "masks")
    assert translator.translate(SENTENCE, beam_size=2).text in texts(app)
    assert (in_url(app, "text"), in_url(app, "beam")) == (SENTENCE, "2")


def test_a_beam_that_there_is_not_does_not(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as early:
        early.setattr(sentence_bar, "_inputs", st.stop)
        app = serve(bar, text=SENTENCE, beam="3")
    visit(app, "masks")
    assert app.text_area(key="text").value == SENTENCE
    assert app.selectbox(key="beam").value == 4


def test_what_the_link_asked_for_counts_once(serve) -> None:
    app = serve(bar, text=SENTENCE)
    app.text_area(key="text").set_value("A cat.").run()
    visit(app, "masks")
    assert app.text_area(key="text").value == "A cat."
