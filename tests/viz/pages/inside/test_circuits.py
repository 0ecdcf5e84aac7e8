"""Why a head looks there and what it writes: what the page shows, against loops in float64."""

import math
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.transformer.analysis.lens_cases import Case
from tests.transformer.analysis.plain_model import PlainModel, linearised
from tests.transformer.circuits.test_score import written
from tests.viz.app_test import GIVEN, texts
from tests.viz.pages.reading import SENTENCE, frames
from transformer import Translator
from transformer.circuits import score, stream
from transformer.config import BOS
from viz.draw.labels import display_tokens
from viz.pages.inside import circuits

SPLIT, ROW = 0, 2  # place of the chart on the page; row of the heads below
NUMBER = re.compile(r"[−+]?\d+\.\d+")


@pytest.fixture(scope="module")
def case(translator: Translator) -> Case:
    trace = translator.trace(SENTENCE, target=GIVEN[SENTENCE])
    source, target = (
        [piece.id for piece in pieces] for pieces in (trace.source_pieces, trace.target_pieces)
    )
    plain = PlainModel(translator.model, source, [BOS, *target[:-1]])
    return Case(translator.model, trace, plain, translator)


def numbers(text: str) -> list[float]:
    return [float(number.replace("−", "-")) for number in NUMBER.findall(text)]


def open_(serve, kind: str, layer: int, head: int, **url: str):
    place = {"kind": kind, "layer": str(layer + 1), "head": str(head + 1), "word": str(ROW + 1)}
    app = serve("inside", text=SENTENCE, **place, **url)
    assert not app.exception
    return app


def says(app, words: str) -> list[str]:
    shown = [element.value.replace("\\", "") for element in (*app.markdown, *app.caption)]
    return [line for text in shown for line in text.splitlines() if words in line]


KINDS = {
    "encoder": ("encoder", "self", "encoder", 2),
    "decoder": ("decoder", "self", "decoder", 3),
    "cross-attention": ("decoder", "cross", "encoder", 4),
}


def parts_of(case: Case, kind: str, layer: int, head: int, query: int, key: int) -> dict:
    """The score by query part and key part, each vector followed by itself, in float64."""
    asks, attention, asked, per_layer = KINDS[kind]
    config, weights = case.model.config, case.plain.weights
    name = f"{asks}.layers.{layer}.{attention}_attention"
    rows = slice(head * config.d_k, (head + 1) * config.d_k)
    W_Q, W_K = (weights[f"{name}.W_{w}.weight"][rows] for w in "QK")
    ends = (per_layer * layer,) * 2
    if kind == "cross-attention":
        ends = (3 * layer + 1, 2 * config.N)
    return {
        (first, second): (W_Q @ x) @ (W_K @ y) / math.sqrt(config.d_k)
        for first, x in written(case, asks, ends[0], query).items()
        for second, y in written(case, asked, ends[1], key).items()
    }


def merged(by_pair: dict, cells) -> Counter:
    """The same by the parts that the map names."""
    sums: Counter = Counter()
    for parts, value in by_pair.items():
        place = []
        for side, part in zip(("query", "key"), parts, strict=True):
            lump = "feed-forward networks" if "feed-forward" in part else "other heads"
            place.append(part if part in set(cells[side]) else lump)
        sums[tuple(place)] += value
    return sums


def seen_keys(case: Case, kind: str) -> range:
    if kind == "decoder":
        return range(ROW + 1)
    return range(len(case.trace.source_tokens))


@pytest.mark.usefixtures("given_translations")
@pytest.mark.parametrize("split", [circuits.ABOVE_MEAN, circuits.ONE_KEY])
@pytest.mark.parametrize("kind", KINDS)
def test_the_map_and_its_sentences_are_the_score_followed_part_by_part(
    serve, case: Case, kind: str, split: str
) -> None:
    layer, head, key = 1, 1, 1
    url = {} if split == circuits.ABOVE_MEAN else {"score": split}  # the first is the default
    app = open_(serve, kind, layer, head, key=str(key + 1), **url)
    (cells,) = frames(app, SPLIT)
    drawn: dict[tuple[str, ...], float] = {
        (row["query"], row["key"]): row["value"] for row in cells.to_dict("records")
    }
    by_pair = parts_of(case, kind, layer, head, ROW, key)
    score = sum(by_pair.values())
    if split == circuits.ABOVE_MEAN:
        every = [parts_of(case, kind, layer, head, ROW, n) for n in seen_keys(case, kind)]
        by_pair = {
            pair: value - np.mean([parts[pair] for parts in every])
            for pair, value in by_pair.items()
        }
    expected = merged(by_pair, cells)
    assert drawn.keys() == expected.keys()
    for place, value in expected.items():
        assert drawn[place] == pytest.approx(value, abs=2e-4)
    total = sum(expected.values())
    (sums,) = says(app, "cells, which sum to")
    assert numbers(sums) == [pytest.approx(total, abs=1e-3)] * 2
    largest = sorted(by_pair.values(), key=lambda value: -abs(value))[: circuits.SENTENCES]
    shown = [numbers(line) for line in says(app, "comes from")]
    assert shown == [[pytest.approx(x, abs=0.01)] for x in largest]
    (line,) = says(app, "The score q")
    beyond = [] if split == circuits.ONE_KEY else [pytest.approx(abs(total), abs=0.011)]
    assert numbers(line) == [pytest.approx(score, abs=0.01), *beyond]


@pytest.mark.usefixtures("given_translations")
def test_a_difference_is_that_of_the_two_largest_weights(serve, case: Case) -> None:
    layer, head = 1, 0
    app = open_(serve, "encoder", layer, head, score=circuits.TWO_KEYS)
    weights = case.trace.weights("encoder_self")[layer, head, ROW]
    first, second = np.argsort(-weights)[:2]
    parts = [parts_of(case, "encoder", layer, head, ROW, key) for key in (first, second)]
    (cells,) = frames(app, SPLIT)
    expected = [merged(part, cells) for part in parts]
    for row in cells.to_dict("records"):
        place = row["query"], row["key"]
        assert row["value"] == pytest.approx(expected[0][place] - expected[1][place], abs=2e-4)
    (line,) = says(app, "The difference is")
    scores = [sum(part.values()) for part in parts]
    assert numbers(line) == [pytest.approx(x, abs=0.01) for x in (*scores, scores[0] - scores[1])]
    assert scores[0] - scores[1] == pytest.approx(
        math.log(weights[first] / weights[second]), abs=1e-3
    )


@pytest.mark.usefixtures("given_translations")
def test_a_sum_that_is_broken_is_seen(serve, monkeypatch) -> None:
    whole = stream.stream_of

    def without_biases(*args):
        broken = whole(*args)
        broken.parts[stream.BIASES] = 0
        return broken

    monkeypatch.setattr(score, "stream_of", without_biases)
    summed, once = numbers(says(open_(serve, "encoder", 1, 1), "cells, which sum to")[0])
    assert abs(summed - once) > 0.05


@pytest.mark.usefixtures("given_translations")
@pytest.mark.parametrize("kind", KINDS)
def test_the_table_is_the_value_of_the_key_carried_to_the_vocabulary(
    serve, case: Case, kind: str
) -> None:
    layer, head, key = 0, 1, 1
    app = open_(serve, kind, layer, head, key=str(key + 1))
    plain = case.plain
    field = kind.replace("-attention", "") + ("" if kind == "cross-attention" else "_self")
    block = plain.attention[field, layer]
    vector = linearised(block, ROW, block.v[head, key] @ block.W_O[head])
    if kind == "encoder":
        later: list[Any] = [plain.networks["encoder", 0]]
        for n in range(1, case.model.config.N):
            later += [plain.attention["encoder_self", n], plain.networks["encoder", n]]
    else:
        later = [*plain.norms[3 * layer + 1 + (kind == "cross-attention") :]]
    for norm in later:
        vector = linearised(norm, ROW, vector)
    logits = plain.table @ vector
    logits = logits - logits.mean()
    order = np.argsort(-logits)
    table = app.table[0].value
    for column, best, sign in (("up by", order, 1), ("down by", order[::-1], -1)):
        shown = [float(text) for text in table[column]]
        assert shown == pytest.approx(sign * logits[best[: circuits.PIECES]], abs=0.006)
    pieces = case.translator.tokenizer.pieces_of([int(order[0])])
    name = display_tokens([pieces[0].text, "▁"])[0]
    assert table["raises"][0].replace("\\", "") == name
    assert name in says(app, "it writes")[0]
    copying = says(app, "Copying score of the head")
    assert bool(copying) == (kind != "cross-attention")
    if copying:
        stack, attention, *_ = KINDS[kind]
        module = f"{stack}.layers.{layer}.{attention}_attention"
        d_v = case.model.config.d_v
        rows = slice(head * d_v, (head + 1) * d_v)
        W_V = plain.weights[f"{module}.W_V.weight"][rows].T
        W_O = plain.weights[f"{module}.W_O.weight"][:, rows].T
        values = np.linalg.eigvals(plain.table @ W_V @ W_O @ plain.table.T)
        values = values[np.argsort(-np.abs(values))[:d_v]]
        expected = values.real.sum() / np.abs(values).sum()
        assert numbers(copying[0])[0] == pytest.approx(expected, abs=0.006)


@pytest.mark.usefixtures("given_translations")
def test_a_masked_key_and_a_single_one_are_said(serve) -> None:
    app = open_(serve, "decoder", 0, 0, key="5")
    assert says(app, "The mask hides")
    assert len(app.get("vega_lite_chart")) == 1
    only = serve("inside", text=SENTENCE, kind="decoder", word="1", score=circuits.TWO_KEYS)
    assert not only.exception
    assert any("is the only key" in line for line in texts(only))
    assert not only.get("vega_lite_chart")


def test_another_scale_leaves_the_scores_of_the_trained_model(serve) -> None:
    before, after = (
        says(open_(serve, "encoder", 1, 1, **url), "cells, which sum to")
        for url in ({}, {"scale_of": "none"})
    )
    assert before == after
    app = open_(serve, "encoder", 1, 1, scale_of="none")
    assert any("as it was trained" in line for line in texts(app))


def test_an_edited_translation_and_a_forced_one_are_split(serve, translator: Translator) -> None:
    for url in ({"edited": "Der Hund schläft."}, {"prefix": "Die Katze"}):
        app = open_(serve, "cross-attention", 1, 0, **url)
        summed, once = numbers(says(app, "cells, which sum to")[0])
        assert summed == pytest.approx(once, abs=2e-4)
