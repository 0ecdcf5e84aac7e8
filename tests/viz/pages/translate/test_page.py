"""The translate page: the map that it opens on, and the other sentences of the search."""

from __future__ import annotations

from tests.viz.app_test import texts
from transformer import Translator
from viz.app import serving

SENTENCE = "The dog sleeps in the garden."


def translate_page() -> None:
    from viz.app import sentence_bar
    from viz.pages import translate

    sentence_bar.show("page")
    translate.show()


def test_it_opens_on_the_layer_that_aligns_words(serve, translator: Translator) -> None:
    app = serve(translate_page, text=SENTENCE)
    assert not app.exception
    assert app.selectbox(key="map_layer").value == str(serving.aligning_layer(translator) + 1)
    assert app.selectbox(key="map_head").value == "mean"


def test_the_other_sentences_of_the_search_have_their_scores(serve, translator: Translator) -> None:
    app = serve(translate_page, text=SENTENCE, beam="2")
    candidates = [html.proto.body for html in app.get("html")]
    expected = translator.translate(SENTENCE, beam_size=2).candidates
    assert len(candidates) == len(expected) == 2
    for body, candidate in zip(candidates, expected, strict=True):
        assert f"log p −{-candidate.hypothesis.log_prob:.2f}" in body


def test_a_beam_of_one_has_nothing_to_compare(serve) -> None:
    app = serve(translate_page, text=SENTENCE, beam="1")
    assert texts(app)
    assert any("nothing to compare" in caption.value for caption in app.caption)
