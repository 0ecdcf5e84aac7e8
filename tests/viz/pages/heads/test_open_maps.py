"""A second map beside the open one."""

import pytest

from tests.viz.app_test import texts, unsure
from tests.viz.pages.heads.test_lens import messages
from transformer import InputError, Translator
from transformer.text.languages import Languages
from viz.app.cache import cached_results
from viz.app.models import menu
from viz.app.sentence.source_box import EXAMPLES

SENTENCE = "The dog sleeps in the garden."


def test_an_empty_second_sentence_says_so_and_the_page_lives(serve) -> None:
    app = serve("heads", text=SENTENCE, view="compare", **{"with": "another sentence"})
    app.text_input(key="text2").set_value("  ").run()
    assert any("The text is empty" in line for line in texts(app))


def test_the_second_sentence_at_the_start_is_in_the_language_of_the_model(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = serve("heads", text=SENTENCE, view="compare", **{"with": "another sentence"})
    assert app.text_input(key="text2").value == EXAMPLES["English"][1]
    french = Languages("French", "Finnish")
    monkeypatch.setattr(menu.load(translator.folder), "languages", french)
    assert app.run().text_input(key="text2").value == ""
    assert not app.exception


def test_what_a_reader_should_know_of_the_second_translation_is_said(serve, unsure_model) -> None:
    url = {"text2": "Her horse waits.", "with": "another sentence"}
    app = serve("heads", text=SENTENCE, view="compare", **url)
    assert len(unsure(app)) == 2  # of the bar's, too


def test_two_models_open_at_one_head_and_are_named(serve) -> None:
    url = {"layer": "2", "head": "1", "view": "compare", "with": "another model"}
    app = serve("heads", text=SENTENCE, **url)
    assert app.selectbox(key="model2").options == ["bundled", "bundled-de-en"]
    assert (app.selectbox(key="layer2").value, app.selectbox(key="head2").value) == ("2", "1")
    first, second = (meta["title"] for meta, _ in messages(app, "attention_map")[:2])
    assert first != second
    assert second.endswith("bundled")


def test_a_pair_that_another_model_has_too_many_pieces_for_says_so(serve, monkeypatch) -> None:
    def refuse(_translator, text: str, target: str) -> None:
        assert (text, bool(target)) == (SENTENCE, True)
        raise InputError("The translation has 1,682 pieces.")

    monkeypatch.setattr(cached_results, "trace_of_pair", refuse)
    app = serve("heads", text=SENTENCE, view="compare", **{"with": "another model"})
    assert "The translation has 1,682 pieces." in texts(app)
