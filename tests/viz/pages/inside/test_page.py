"""The inside of a head as Streamlit runs it, and the numbers of its charts."""

from dataclasses import replace

import pytest

from tests.viz.app_test import GIVEN, texts, unsure
from tests.viz.pages.reading import SENTENCE, html, message
from transformer import AttentionTrace, Translation, Translator
from viz.app.cache import cached_results
from viz.draw.labels import display_tokens
from viz.findings import ranked


@pytest.mark.usefixtures("given_translations")
def test_a_link_opens_what_its_sender_saw(serve, translator: Translator) -> None:
    trace = translator.trace(SENTENCE, target=GIVEN[SENTENCE])
    third = display_tokens(trace.decoder_tokens)[2]
    app = serve(
        "inside", text=SENTENCE, kind="decoder", layer="1", head="3", word=f"3 {third}",
        scale_of="none",
    )  # fmt: skip
    assert not app.exception
    assert app.selectbox(key="word").value == 2
    assert app.selectbox(key="layer").value == "1"
    assert app.selectbox(key="head").value == "3"
    assert any("no scale in L1 H3" in line for line in html(app))


@pytest.mark.parametrize(
    "url",
    [
        {"word": "99 x", "layer": "9", "head": "mean", "scale_of": "big"},
        {"word": "-1", "at": "²", "kind": "nonsense"},
        {"key": "99 x", "score": "both", "parts": "²"},
    ],
)
def test_a_url_that_makes_no_sense_opens_the_page_as_ever(serve, translator, url) -> None:
    app = serve("inside", **{"text": SENTENCE, **url})
    assert not app.exception
    first, *_ = ranked("inside", translator.trace(SENTENCE), translator)
    assert app.selectbox(key="word").value == int(first.choices["word"]) - 1
    assert app.selectbox(key="scale_of").value == "÷ √d_k"
    assert len(app.get("vega_lite_chart")) == 1


def test_what_no_search_can_do_is_one_sentence_beside_an_edited_translation(serve) -> None:
    url = {"edited": "Der Hund schläft.", "forbid": "z.B.", "scale_of": "none"}
    app = serve("inside", text=SENTENCE, **url)
    assert not app.exception
    assert any("“z.B.” cannot be forbidden" in line for line in texts(app))
    assert len(app.get("vega_lite_chart")) == 1


def test_what_a_reader_should_know_of_the_rescaled_translation_is_said(serve, unsure_model) -> None:
    app = serve("inside", text=SENTENCE, scale_of="× √dₖ")
    assert len(unsure(app)) == 2  # of the bar's, too


def test_two_tokens_are_enough_and_the_first_sees_itself_alone(serve, translator) -> None:
    assert len(translator.trace("e").source_tokens) == 2
    app = serve("inside", text="e", kind="encoder")
    assert not app.exception
    assert app.selectbox(key="word").value == 1
    app = serve("inside", text=SENTENCE, kind="decoder", word="1 <s>")
    assert not app.exception
    assert app.selectbox(key="word").value == 0  # as links called this row before, by one word
    app = serve("inside", text=SENTENCE, kind="decoder", word="2 nothing")
    assert app.selectbox(key="word").value == 1


def test_a_shorter_sentence_has_no_word_of_the_longer_one(serve, translator: Translator) -> None:
    app = serve("inside", text=SENTENCE, kind="encoder")
    last = len(translator.trace(SENTENCE).source_tokens) - 1
    app.selectbox(key="word").set_value(last).run()
    assert app.selectbox(key="word").value == last
    app.text_area(key="text").set_value("Dog.").run()
    assert not app.exception
    assert app.selectbox(key="word").value < len(translator.trace("Dog.").source_tokens)


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_a_translation_of_one_piece_is_drawn(serve, monkeypatch, kind: str) -> None:
    """A model that ends the sentence at once: the decoder reads `<s>` alone, and has no mask."""
    trace_of = cached_results.trace

    def ended(translator: Translator, translation: Translation) -> AttentionTrace:
        whole = trace_of(translator, translation)
        return replace(
            whole,
            target="",
            target_pieces=whole.target_pieces[:1],
            decoder_self=whole.decoder_self[..., :1, :1],
            cross=whole.cross[..., :1, :],
            log_probs=whole.log_probs[:1],
        )

    monkeypatch.setattr(cached_results, "trace", ended)
    app = serve("inside", text=SENTENCE, kind=kind)
    assert not app.exception
    # one key alone: nothing tells it from others
    assert len(app.get("vega_lite_chart")) == (kind != "decoder")


def test_the_walk_plays_where_the_first_steps_lead_and_not_at_a_step_that_was_chosen(serve) -> None:
    for url, plays in (
        ({"stop": "3", "at": "1"}, True),
        ({"stop": "3", "at": "4"}, False),
        ({"at": "1"}, False),
    ):
        assert message(serve("inside", text=SENTENCE, **url), "inside_head")[0]["plays"] == plays


def test_menus_name_the_last_token_as_pictures_do(serve) -> None:
    for kind, last in (("encoder", "end"), ("cross", "predicts “\u2068end\u2069”")):
        app = serve("inside", text=SENTENCE, kind=kind)
        assert app.selectbox(key="word").options[-1].endswith(f" {last}")
        assert app.selectbox(key="key").options[-1].endswith(" end")
