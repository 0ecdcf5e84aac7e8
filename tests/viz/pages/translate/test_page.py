"""The translate page: the map that it opens on, and the other sentences of the search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from tests.viz.draw.message import decode
from transformer import Translator
from transformer.analysis import alignment_settings
from transformer.analysis.alignment import align
from transformer.analysis.alignment_settings import AlignmentSettings, GoldFigures
from viz.app import serving
from viz.draw.labels import shown
from viz.pages.translate.word_picture import NOTHING, how_made

SENTENCE = "The dog sleeps in the garden."


def translate_page() -> None:
    from viz.app import sentence_bar
    from viz.pages import translate

    sentence_bar.show("translate")
    translate.show()


def drawn(app: AppTest, component: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a picture of the page was drawn from."""
    pictures = (decode(one.proto.bytes) for one in app.get("bidi_component"))
    (found,) = [picture for picture in pictures if picture[0]["component"] == component]
    return found


GOLD = GoldFigures("a *set* of :red[links]", 508, 31.25)
SETTINGS = AlignmentSettings(0, 2, "reads", "weights", "each", GOLD)
UNMEASURED = AlignmentSettings(1, None, "writes", "norm", "mutual")


@pytest.mark.parametrize("settings", [SETTINGS, UNMEASURED])
def test_words_are_linked_by_the_map_that_aligns_them(
    serve, translator: Translator, monkeypatch, settings: AlignmentSettings
) -> None:
    monkeypatch.setattr(alignment_settings, "read", lambda *_: settings)
    app = serve(translate_page, text=SENTENCE)
    assert not app.exception
    words, drawn_map = drawn(app, "word_links"), drawn(app, "attention_map")
    meta, arrays = words
    trace = translator.trace(SENTENCE)
    pairs = align(translator, trace, settings)
    assert pairs
    assert arrays["ends"].tolist() == [[pair.source, pair.target] for pair in pairs]
    assert arrays["strengths"] == pytest.approx([pair.strength for pair in pairs], abs=1e-5)
    assert meta["source"] == ["The", "dog", "sleeps", "in", "the", "garden", "."]
    assert "".join(meta["target"]) == trace.target.replace(" ", "")
    # the map below opens on the same layer and head
    assert app.selectbox(key="map_layer").value == str(settings.layer + 1)
    head = "mean" if settings.head is None else str(settings.head + 1)
    assert app.selectbox(key="map_head").value == head
    # and names its rows as the links are read, of another layer by what they write
    meta, _ = drawn_map
    assert meta["queries"] == shown(trace.labels("cross", settings.row).queries)
    assert settings.row in meta["rows"]
    app.selectbox(key="map_layer").set_value(str(2 - settings.layer)).run()
    meta, _ = drawn(app, "attention_map")
    assert meta["queries"] == shown(trace.target_tokens)
    assert "writes" in meta["rows"]
    weights = trace.cross[settings.layer]  # [head, query, key]
    seen = weights.mean(0) if settings.head is None else weights[settings.head]
    assert drawn_map[1]["weights"] == pytest.approx(seen, abs=1e-6)
    assert how_made(settings) in [text.value for text in app.markdown]


def test_the_page_says_which_map_it_is_and_how_well_that_did() -> None:
    assert how_made(SETTINGS) == (
        "Each link joins a German word to the English word that weighs most in the row that reads "
        "it: layer 1, head 3, attention weights; AER 31.2 % on 508 gold sentences "
        r"(a \*set\* of \:red\[links\])."
    )
    assert how_made(UNMEASURED) == (
        "Each link joins the German and the English word that weigh most for each other, in the "
        "row that writes the German one: layer 2, all heads, norm lens; never measured on gold "
        "text for this checkpoint."
    )


def test_where_nothing_was_written_there_is_nothing_to_link(
    serve, translator: Translator, monkeypatch
) -> None:
    end = replace(translator.trace(SENTENCE), target="")
    rows = slice(-1, None)
    empty = replace(end, target_pieces=end.target_pieces[rows], cross=end.cross[:, :, rows])
    monkeypatch.setattr(serving, "trace", lambda *_: empty)
    app = serve(translate_page, text=SENTENCE)
    assert not app.exception
    assert NOTHING in [caption.value for caption in app.caption]


def html(app: AppTest) -> list[str]:
    return [element.proto.body for element in app.get("html")]


def test_the_other_sentences_of_the_search_have_their_scores(serve, translator: Translator) -> None:
    app = serve(translate_page, text=SENTENCE, beam="4")
    bodies = [body for body in html(app) if "headlight-candidate" in body]
    best, *others = translator.translate(SENTENCE, beam_size=4).candidates
    assert len(bodies) == len(others) == 3
    for body, candidate in zip(bodies, others, strict=True):
        assert f"log p −{-candidate.hypothesis.log_prob:.2f}" in body
        assert all(word in body for word in candidate.text.split())
    own = best.hypothesis
    said = f"That one has score −{-own.score:.2f} · log p −{-own.log_prob:.2f}"
    assert any(said in caption.value for caption in app.caption)


def test_a_beam_of_one_has_nothing_to_compare(serve) -> None:
    app = serve(translate_page, text=SENTENCE, beam="1")
    assert texts(app)
    assert any("nothing to compare" in caption.value for caption in app.caption)
