"""“Layer by layer”: the table, the sum and the shares are what the model holds."""

import re
from html import unescape

import numpy as np
import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, html
from tests.viz.pages.roles.made_reports import chart_tables
from transformer import AttentionTrace, InputError, Translator
from transformer.analysis.logits.decoder_lens import decoder_lens
from transformer.analysis.logits.logit_lens import LayerPredictions, layer_predictions
from viz.app.cache import cached_results
from viz.app.sentence.candidates import mark_changed_words
from viz.draw.formatting import format_number, format_probability
from viz.pages.roles import layer_by_layer as layers
from viz.pages.roles.pieces import shown_piece
from viz.pages.roles.predictions_table import first_stable_layers, predictions_html

STEP = 2
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


def test_each_cell_is_what_the_layer_would_write(opened, translator, trace) -> None:
    (table,) = [h.proto.body for h in opened().get("html") if "<table" in h.proto.body]
    predictions = layer_predictions(translator, trace, layers.TOP)
    drawn = cells(table)
    assert len(drawn) == len(predictions.pieces) == translator.model.config.N
    for layer, row in enumerate(drawn):
        assert len(row) == len(trace.target_pieces)
        for step, (text, below) in enumerate(row):
            assert text == shown_piece(predictions.pieces[layer][step][0])
            rank, own = int(predictions.rank[layer, step]), float(predictions.written[layer, step])
            assert below == (f"rank {rank + 1:,}" if rank else format_probability(own))
    stable = first_stable_layers(predictions.rank)
    assert firsts(table) == ["never" if n is None else f"L{n + 1}" for n in stable]


def test_each_bar_of_the_sum_begins_where_the_one_before_it_ends(opened) -> None:
    app = opened(written=str(STEP + 1))
    (rows,) = chart_tables(app, "logit, added up", "part")
    *parts, whole = rows["value"]
    assert sum(parts) == pytest.approx(whole, abs=1e-3)
    np.testing.assert_allclose(rows["end"][:-1], np.cumsum(parts), atol=1e-6)
    np.testing.assert_allclose(rows["start"][1:-1], rows["end"][:-2], atol=1e-6)
    printed = [float(text.replace("−", "-")) for text in rows["figure"]]
    (within,) = [
        re.search(r"up to (\d\.\d\d)", c.value) for c in app.caption if "Rounding" in c.value
    ]
    assert within
    assert abs(sum(printed[:-1]) - printed[-1]) <= float(within[1]) + 1e-9
    assert any(f"(logit) {printed[-1]:.2f}" in line.value for line in app.subheader)
    assert chart_tables(app, "fillOpacity", "strength")
    assert not chart_tables(app, "pointer", "strength")  # nothing hears a click


def test_the_shares_of_a_word_are_the_means_over_its_pieces(trace) -> None:
    source, target = len(trace.source_pieces), len(trace.target_pieces)
    shares = np.random.default_rng(1).dirichlet(np.ones(source + target), target)
    words = np.array([piece.word for piece in trace.target_pieces])
    first, parts = layers.word_shares(trace, shares)
    assert words[first].tolist() == list(dict.fromkeys(words))
    for place, word in enumerate(words[first]):
        mean = shares[words == word].mean(0)
        expected = [mean[:source].sum(), mean[source], mean[source + 1 :].sum()]
        assert [values[place] for values in parts.values()] == pytest.approx(expected)
    assert [*parts] == [layers.SOURCE, layers.START, layers.BEFORE]


def test_a_long_sentence_is_shared_out_when_it_is_asked_for(opened, monkeypatch) -> None:
    monkeypatch.setattr(layers, "MAX_AT_ONCE", 3)
    app = opened()
    assert not chart_tables(app, "share", "share")
    app.toggle(key="shares").set_value(True).run()
    assert len(chart_tables(app, "share", "share")) == 1


def test_a_step_that_is_not_there_is_one_sentence(opened, trace) -> None:
    app = opened(written="77")
    assert len([text for text in texts(app) if "no step 77" in text]) == 1
    assert any(line.value.startswith("Step ") for line in app.subheader)


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
        ({"written": "1", "edited": "Der Hund."}, False),
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
    assert first_stable_layers(rank) == [2, 1, 0, None]


def test_pieces_are_text_in_the_table() -> None:
    result = LayerPredictions(
        pieces=((("▁<b>", '"x'), ("·", "&")),),
        probabilities=np.array([[[0.5, 0.2], [0.4, 0.1]]]),
        written=np.array([[0.5, 0.1]]),
        rank=np.array([[0, 1]]),
    )
    table = predictions_html(result, ["▁<i>", "</s>"], 0)
    assert "<b>" not in table
    assert "<i>" not in table
    assert cells(table) == [[("<b>", "0.50"), ("·", "rank 2")]]
    assert firsts(table) == ["L1", "never"]
    assert 'title="&lt;b&gt; 0.50\n·&quot;x 0.20"' in table


def test_each_encoder_layer_has_its_translation(opened, translator) -> None:
    page = opened(encoder_layers="true")
    rows = [body for body in html(page) if "headlight-candidate" in body]
    assert len(rows) == translator.model.config.N + 1
    own = translator.translate(SENTENCE).text
    for layer, row in enumerate(rows):
        reading = decoder_lens(translator, translator.trace(SENTENCE), layer)
        assert f"<bdi>{mark_changed_words(reading.translation.text, own)}</bdi>" in row
        above, below = re.findall(r"<small>(.*?)</small>", row)
        assert (str(layer) in above) == (layer > 0)
        assert re.search(rf"\b{reading.length} subword", below)
        assert below.endswith(f" {format_number(reading.log_prob)}")
    assert len({row.partition("<bdi>")[2] for row in rows}) > 1


def test_nothing_is_translated_before_it_is_asked_for(opened, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InputError("asked")

    monkeypatch.setattr(layers, "decoder_lens", refuse)
    app = opened(text="The old cat sings.")
    assert "asked" not in texts(app)
    app.toggle(key=layers.ENCODER_LAYERS).set_value(True).run()
    assert not app.exception
    assert "asked" in texts(app)


def test_a_translation_without_an_end_is_named(opened, translator, monkeypatch) -> None:
    cut = {"max_length": 1}
    monkeypatch.setattr(
        layers,
        "decoder_lens",
        lambda *place, **more: decoder_lens(*place, **(more | cut)),
    )
    page = opened(text="The baker eats.", encoder_layers="true")
    rows = [body for body in html(page) if "headlight-candidate" in body]
    stopped = [row for row in rows if "without an end after 1 subword " in row]
    trace = translator.trace("The baker eats.")
    unended = [
        layer
        for layer in range(translator.model.config.N + 1)
        if not decoder_lens(translator, trace, layer, max_length=1).ended
    ]
    assert len(stopped) == len(unended) > 0
