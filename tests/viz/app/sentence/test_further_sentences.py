"""Further sentences of a batch: each line one, and a word on those that are left out."""

import pytest

from tests.viz.app_test import in_url, texts
from transformer import Translator
from transformer.text.languages import OURS, Languages
from viz.app.models import menu

FIRST = "The dog sleeps."


def page() -> None:
    import streamlit as st

    from viz.app.sentence import beside, sentence_bar

    sentence_bar.show("page")
    st.session_state["sources"] = [trace.source for trace in beside.batch_traces()]


def test_more_lines_than_a_picture_holds_are_left_out_with_a_word(serve) -> None:
    wrong = "catcatcat" * 60
    app = serve(page, text=FIRST, more=f"Her horse waits.\n \nA dog.\n{wrong}\nThe baker.")
    assert app.session_state["sources"] == [FIRST, "Her horse waits.", "A dog."]
    assert any(text.startswith("Line 4: The text has") for text in texts(app))
    notice = "The batch takes 3 further sentences: line 5 and later are left out."
    assert notice in texts(app)


def test_the_sentences_at_the_start_are_in_the_language_of_the_model(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = serve(page, text=FIRST)
    at_first = app.text_area(key="more").value
    assert at_first
    shown = menu.load(translator.folder)
    for languages, expected in ((Languages("French", "Finnish"), ""), (OURS, at_first)):
        monkeypatch.setattr(shown, "languages", languages)
        app.run()
        assert app.text_area(key="more").value == expected
        assert in_url(app, "more") is None  # as a link without it opens it
    app.text_area(key="more").set_value("Her horse waits.").run()
    monkeypatch.setattr(shown, "languages", Languages("French", "Finnish"))
    assert app.run().text_area(key="more").value == "Her horse waits."
