"""Further sentences of a batch: each line one, and a word on those that are left out."""

from __future__ import annotations

from tests.viz.app_test import texts

FIRST = "The dog sleeps."


def page() -> None:
    import streamlit as st

    from viz.app import further_sentences, sentence_bar

    sentence_bar.show("page")
    st.session_state["sources"] = [trace.source for trace in further_sentences.traces()]


def test_the_sentence_of_the_bar_comes_first_and_empty_lines_are_none(serve) -> None:
    app = serve(page, text=FIRST, more="Her horse waits.\n \nThe baker sings.")
    assert app.session_state["sources"] == [FIRST, "Her horse waits.", "The baker sings."]


def test_a_line_that_cannot_be_translated_is_named_and_left_out(serve) -> None:
    app = serve(page, text=FIRST, more=f"Her horse waits.\n{'catcatcat' * 60}\nThe baker sings.")
    assert app.session_state["sources"] == [FIRST, "Her horse waits.", "The baker sings."]
    assert any(text.startswith("Line 2: The text has") for text in texts(app))


def test_more_lines_than_a_picture_holds_are_left_out_with_a_word(serve) -> None:
    app = serve(page, text=FIRST, more="\n".join(["Her horse waits."] * 3 + ["", "A dog."]))
    assert len(app.session_state["sources"]) == 4
    said = "The batch takes 3 further sentences: line 5 and later are left out."
    assert said in texts(app)


def test_without_a_translation_there_is_no_batch(serve) -> None:
    app = serve(page, text=" ", more="Her horse waits.")
    assert app.session_state["sources"] == []
    assert "Without a translation there is nothing to draw." in texts(app)
