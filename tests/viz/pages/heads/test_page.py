"""The heads page as Streamlit runs it: its numbers, its choices, and what stands in the URL."""

from __future__ import annotations

import pytest

from tests.viz.app_test import GIVEN, heads_page, texts
from transformer import Kind, Translator
from transformer.analysis.measures import summarise
from viz.draw.labels import shown
from viz.draw.open_head import heads

SENTENCE = "The dog sleeps in the garden."


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_numbers_beside_a_head_are_that_heads(serve, translator: Translator, kind: str) -> None:
    app = serve(heads_page, text=SENTENCE, kind=kind, layer="1", head="2")
    assert not app.exception
    trace = translator.trace(SENTENCE)
    weights = {
        "encoder": trace.encoder_self,
        "decoder": trace.decoder_self,
        "cross": trace.cross,
    }[kind][0, 1]
    expected = summarise(weights, causal=kind == "decoder")
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Entropy"] == f"{expected.entropy:.2f} bit"
    assert shown["Largest weight"] == f"{expected.largest:.2f}"
    assert ("Offset" in shown) == (kind != "cross")


def test_the_numbers_of_a_mean_are_those_of_the_mean(serve, translator: Translator) -> None:
    app = serve(heads_page, text=SENTENCE, kind="encoder", layer="mean", head="mean")
    expected = summarise(translator.trace(SENTENCE).encoder_self.mean((0, 1)))
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Entropy"] == f"{expected.entropy:.2f} bit"


@pytest.mark.usefixtures("given_translations")
def test_a_step_is_named_by_what_it_writes(serve, translator: Translator) -> None:
    app = serve(heads_page, text=SENTENCE, view="step by step", step="2")
    pieces = translator.trace(SENTENCE, target=GIVEN[SENTENCE]).target_tokens
    assert app.slider(key="step").max == len(pieces)
    assert app.slider(key="step").value == 2
    assert f"Step 2 writes “\u2068{shown(pieces)[1]}\u2069”" in texts(app)


def test_step_by_step_no_row_is_left_out(serve, translator: Translator) -> None:
    app = serve(heads_page, text=SENTENCE, view="step by step", special="false")
    assert app.slider(key="step").max == len(translator.trace(SENTENCE).target_tokens)
    assert app.toggle(key="special").disabled


@pytest.mark.parametrize("step", ["0", "99", "x"])
def test_a_step_that_is_not_there_is_one_that_is(serve, step: str) -> None:
    app = serve(heads_page, text=SENTENCE, view="step by step", step=step)
    assert not app.exception
    slider = app.slider(key="step")
    assert 1 <= slider.value <= slider.max


@pytest.mark.usefixtures("given_translations")
def test_a_shorter_sentence_has_no_step_of_the_longer_one(serve, translator: Translator) -> None:
    app = serve(heads_page, text=SENTENCE, view="step by step")
    app.slider(key="step").set_value(app.slider(key="step").max).run()
    pieces = len(translator.trace("Dog.", target=GIVEN["Dog."]).target_tokens)
    assert app.slider(key="step").value > pieces
    app.text_input(key="text").set_value("Dog.").run()
    assert not app.exception
    assert app.slider(key="step").value == app.slider(key="step").max == pieces


@pytest.mark.parametrize("url", [{"words": "true"}, {"special": "false"}, {"kind": "decoder"}])
def test_the_largest_weight_is_named_by_tokens_of_the_map(
    serve, translator: Translator, url: dict[str, str]
) -> None:
    app = serve(heads_page, **{"text": "The zookeeper sleeps.", "kind": "encoder", **url})
    (said,) = [line for line in texts(app) if " looks at " in line]
    kind: Kind = "decoder_self" if "kind" in url else "encoder_self"
    of = heads(
        translator.trace("The zookeeper sleeps."), kind,
        words="words" in url, special="special" not in url,
    )  # fmt: skip
    query, key = said.split(" looks at ")
    assert query in shown(of.axes.labels.queries)
    assert key in shown(of.axes.labels.keys)
