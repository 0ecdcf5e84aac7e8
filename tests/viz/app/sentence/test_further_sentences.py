"""Further sentences of a batch: each line one, and a word on those that are left out."""

from tests.viz.app_test import texts

FIRST = "The dog sleeps."


def page() -> None:
    import streamlit as st

    from viz.app.sentence import further_sentences, sentence_bar

    bar = sentence_bar.show().translation
    assert bar is not None
    st.session_state["sources"] = [trace.source for trace in further_sentences.traces(bar)]


def test_more_lines_than_a_picture_holds_are_left_out_with_a_word(serve) -> None:
    wrong = "catcatcat" * 60
    app = serve(page, text=FIRST, more=f"Her horse waits.\n \nA dog.\n{wrong}\nThe baker.")
    assert app.session_state["sources"] == [FIRST, "Her horse waits.", "A dog."]
    assert any(text.startswith("Line 4: The text has") for text in texts(app))
    notice = "The batch takes 3 further sentences: line 5 and later are left out."
    assert notice in texts(app)
