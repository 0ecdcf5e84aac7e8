"""A second map beside the open one."""

from __future__ import annotations

from tests.viz.app_test import heads_page, texts

SENTENCE = "The dog sleeps in the garden."


def test_an_empty_second_sentence_says_so_and_the_page_lives(serve) -> None:
    app = serve(heads_page, text=SENTENCE, view="compare", **{"with": "another sentence"})
    app.text_input(key="text2").set_value("  ").run()
    assert any("The text is empty" in line for line in texts(app))


def test_one_checkpoint_has_none_to_be_compared_with_but_the_bundled_one(serve) -> None:
    app = serve(heads_page, text=SENTENCE, view="compare", **{"with": "another model"})
    assert app.selectbox(key="model2").options == ["bundled"]
