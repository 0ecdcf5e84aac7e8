"""Weights by class of token, against loops in float64 over traces; a planted sink takes all."""

import math
from collections import Counter

import numpy as np
import pytest
import torch

from tests.transformer.corpus.planted_model import planted_model
from transformer import KINDS, Kind, Translator
from transformer.corpus import measuring
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.token_classes import CLASSES, EVEN, class_weights

TEXTS = (
    "The dog sleeps in the garden.",
    "The old cat, the dog and the horse wait on the roof.",
    "Her horse waits.",
    "The teacher sleeps in the garden.",
    "The baker sings in the garden.",
    ".",
)


@pytest.fixture(scope="module")
def lines(translator: Translator) -> MeasuredLines:
    return measuring.measure_lines(translator, TEXTS, costs=False, sources=False)


def class_of(text: str, counts: Counter[str]) -> str:
    """Class a piece by hand: only ASCII stands in these lines."""
    if text in {"<s>", "</s>"}:
        return "special"
    if not any(map(str.isalnum, text)):
        return "punctuation"
    words = sum(n for piece, n in counts.items() if any(map(str.isalnum, piece)))
    begins = text.startswith("▁") and len(text) > 1
    frequent = counts[text] >= 5 and counts[text] >= 0.0025 * words
    return "function word" if begins and frequent else "content word"


@pytest.mark.parametrize("kind", KINDS)
def test_each_layer_is_the_mean_of_all_rows_of_all_heads(translator, lines, kind: Kind) -> None:
    result = class_weights(translator, lines)
    traces = [measuring.trace_of(translator, pair) for pair in lines.pairs]
    counts = Counter(piece.text for x in traces for piece in (*x.source_pieces, *x.target_pieces))
    del counts["</s>"]
    layers = traces[0].weights(kind).shape[0]
    for layer in range(layers + 1):
        sums = {name: [0.0] for name in CLASSES}
        rows = 0
        for trace in traces:
            weights, keys = trace.weights(kind), trace.labels(kind).keys
            first = int(kind == "decoder_self" and weights.shape[2] > 1)
            rows += weights.shape[2] - first
            for row in range(first, weights.shape[2]):
                seen = range(row + 1 if kind == "decoder_self" else len(keys))
                for key in seen:
                    weight = (
                        math.fsum(map(float, weights[layer - 1, :, row, key])) / weights.shape[1]
                        if layer
                        else 1 / len(seen)
                    )
                    sums[class_of(keys[key], counts)].append(weight)
        name = str(layer) if layer else EVEN
        table = result.table
        drawn = table[(table["kind"] == kind) & (table["layer"] == name)]
        assert drawn["class"].tolist() == list(CLASSES)
        for share, parts in zip(drawn["share"], sums.values(), strict=True):
            assert share == pytest.approx(math.fsum(parts) / rows, abs=1e-6)
        assert (drawn["low"] <= drawn["share"] + 1e-9).all()
        assert (drawn["high"] >= drawn["share"] - 1e-9).all()
    expected = {text for text in counts if class_of(text, counts) == "function word"}
    assert set(result.function_words) == expected
    assert "▁the" in expected
    assert "▁garden" not in expected


def test_a_planted_sink_takes_the_weight_of_its_class_alone(translator, monkeypatch) -> None:
    """Two heads of three look at the first position, which is `<s>` in the decoder."""
    short = (TEXTS[0], *TEXTS[2:])
    lines = measuring.measure_lines(translator, short, targets=short, costs=False, sources=False)
    model = planted_model(translator.model.config.vocab_size)
    monkeypatch.setattr(translator, "model", model)
    progress: list[tuple[int, int]] = []
    with torch.no_grad():
        table = class_weights(translator, lines, progress=lambda *x: progress.append(x)).table
    shares = table.set_index(["kind", "layer", "class"])["share"]
    even = shares["decoder_self", EVEN, "special"]
    assert even < 0.5
    assert 2 / 3 - 1e-3 <= shares["decoder_self", "1", "special"] <= 2 / 3 + even / 3 + 0.2
    # of the encoder's, none looks at `</s>` but where a row looks one back
    assert shares["encoder_self", "1", "special"] < 0.15
    assert np.allclose(table.groupby(["kind", "layer"])["share"].sum(), 1, atol=1e-6)
    assert progress[-1] == (len(lines), len(lines))
