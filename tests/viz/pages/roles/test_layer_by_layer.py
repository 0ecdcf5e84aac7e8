"""“Layer by layer”: the table, the sum and the shares are what the model holds."""

import re
from functools import partial
from html import unescape

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, html
from tests.viz.pages.roles.made_reports import chart_tables
from transformer import AttentionTrace, Translator
from transformer.analysis.logits import logit_lens
from transformer.analysis.logits.decoder_lens import decoder_lens
from viz.app.cache import cached_results
from viz.pages.roles import layer_by_layer
from viz.pages.roles import layer_by_layer as layers

URL = {"text": SENTENCE, "roles_view": "Layer by layer"}


@pytest.fixture
def trace(translator: Translator) -> AttentionTrace:
    return translator.trace(SENTENCE)


def cells(table: str) -> list[list[tuple[str, str]]]:
    """The first piece of each cell and what stands below it, `[layer][step]`."""
    rows = re.findall(r"<tr.*?</tr>", table, re.DOTALL)[2:]  # a hover has lines
    cell = re.compile(r"<td.*?<bdi>(.*?)</bdi><br><span[^>]*>([^<]*)", re.DOTALL)
    return [[(unescape(a), unescape(b)) for a, b in cell.findall(row)] for row in rows]


def firsts(table: str) -> list[str]:
    """The row that names the layer from which each piece is first for good, `[step]`."""
    (_, row, *_) = re.findall(r"<tr.*?</tr>", table, re.DOTALL)
    return re.findall(r"<td[^>]*>([^<]*)</td>", row)


def test_the_shares_of_a_word_are_the_means_over_its_pieces(trace) -> None:
    source, target = len(trace.source_pieces), len(trace.target_pieces)
    shares = np.random.default_rng(0).dirichlet(np.ones(source + target), target)
    first, of_words = layer_by_layer.word_shares(trace, shares)
    words = [piece.word for piece in trace.target_pieces]
    assert first.tolist() == [words.index(word) for word in dict.fromkeys(words)]
    for place, word in enumerate(dict.fromkeys(words)):
        mean = np.mean([shares[n] for n in range(target) if words[n] == word], axis=0)
        assert of_words[layer_by_layer.SOURCE][place] == pytest.approx(mean[:source].sum())
        assert of_words[layer_by_layer.START][place] == pytest.approx(mean[source])
        assert of_words[layer_by_layer.BEFORE][place] == pytest.approx(mean[source + 1 :].sum())


def test_a_long_sentence_is_shared_out_when_it_is_asked_for(opened, monkeypatch) -> None:
    monkeypatch.setattr(layers, "MAX_AT_ONCE", 3)
    app = opened()
    assert not chart_tables(app, "share", "share")
    app.toggle(key="shares").set_value(True).run()
    assert len(chart_tables(app, "share", "share")) == 1


def test_a_written_piece_is_text_in_the_heading(opened, translator, monkeypatch) -> None:
    trace = translator.trace(SENTENCE, target="Das ist $ $ .")
    monkeypatch.setattr(cached_results, "trace", lambda *_: trace)
    step = 1 + trace.target_tokens.index("$")
    (heading,) = [
        item.value for item in opened(written=str(step)).subheader if "Step" in item.value
    ]
    assert re.findall(r"(.)\$", heading) == ["\\"]  # two bare ones are a formula


def test_what_the_last_layer_would_not_write_was_searched_or_given(
    opened, trace, monkeypatch
) -> None:
    monkeypatch.setattr(layers, "first_stable_layers", lambda rank: [None] * rank.shape[1])
    first = trace.target_pieces[0].text
    for url, searched in (
        ({"written": "1"}, True),
        ({"written": "1", "prefix": first}, False),
        ({"written": "2", "prefix": first}, True),
    ):
        (message,) = [
            text for text in texts(opened(**url)) if text.startswith("The last layer finds")
        ]
        assert message.endswith(
            ": the search kept this one." if searched else ": you gave this one."
        )


def test_the_frame_stands_where_the_piece_stays() -> None:
    rank = np.array([[0, 3, 0, 5], [2, 0, 0, 0], [0, 0, 0, 1]])
    assert layer_by_layer.first_stable_layers(rank) == [2, 1, 0, None]


def test_pieces_are_text_in_the_table() -> None:
    result = logit_lens.LayerPredictions(
        pieces=((("▁<b>", '"x'), ("·", "&")),),
        probabilities=np.array([[[0.5, 0.2], [0.4, 0.1]]]),
        written=np.array([[0.5, 0.1]]),
        rank=np.array([[0, 1]]),
    )
    table = layer_by_layer.predictions_html(result, ["▁<i>", "</s>"], 0)
    assert "<b>" not in table
    assert "<i>" not in table
    assert cells(table) == [[("<b>", "0.50"), ("·", "rank 2")]]
    assert firsts(table) == ["L1", "never"]
    assert 'title="&lt;b&gt; 0.50\n·&quot;x 0.20"' in table


def translations(app: AppTest) -> list[str]:
    """Return what stands for each encoder layer."""
    assert not app.exception
    return [body for body in html(app) if "headlight-candidate" in body]


def test_a_translation_without_an_end_is_named(opened, translator, monkeypatch) -> None:
    cut = partial(decoder_lens, max_length=1)
    name = "transformer.analysis.logits.decoder_lens.decoder_lens"
    monkeypatch.setattr(name, lambda *place, **_: cut(*place))
    rows = translations(opened(text="The baker eats.", encoder_layers="true"))
    stopped = [row for row in rows if "after 1 subword, without an end " in row]
    trace = translator.trace("The baker eats.")
    ended = [cut(translator, trace, layer).ended for layer in range(translator.model.config.N + 1)]
    assert len(stopped) == ended.count(False) > 0
