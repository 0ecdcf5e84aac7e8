"""The measures by hand, and heads planted to do one thing get its name."""

import numpy as np
import pytest

from transformer import Kind
from transformer.analysis.axes import Axes, without_special
from transformer.analysis.heads import MEASURES, badges, measure
from transformer.trace import Labels
from viz.numbers import summarise

ENGLISH = ("▁The", "▁fris", "bee", ",", "▁the", "▁dog", "▁runs", "</s>")
GERMAN = ("▁Der", "▁Hund", ",", "▁die", "▁Schei", "be", "▁rennt", "</s>")
READ = ("<s>", *GERMAN[:-1])
LABELS: dict[Kind, Labels] = {
    "encoder_self": Labels(ENGLISH, ENGLISH),
    "decoder_self": Labels(READ, READ),
    "cross": Labels(GERMAN, ENGLISH),
}
COUNT = len(ENGLISH)


def looking_at(*keys, amount=0.9):
    """A head whose row i has `amount` on keys[i] and the rest spread over all."""
    weights = np.full((len(keys), COUNT), (1 - amount) / COUNT)
    weights[np.arange(len(keys)), keys] += amount
    return weights


def axes_of(kind, *heads):
    weights = np.stack(heads)[None]
    if kind == "decoder_self":
        weights = np.tril(weights)
        weights /= weights.sum(-1, keepdims=True)
    return Axes(weights.astype(np.float32), LABELS[kind], None)


def badge_of(kind, head):
    return badges(axes_of(kind, head), kind)[0][0]


ROWS = np.arange(COUNT)
BACK, ON = np.maximum(ROWS - 1, 0), np.minimum(ROWS + 1, COUNT - 1)
UNIFORM = np.full((COUNT, COUNT), 1 / COUNT)


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
def test_a_head_is_named_by_what_it_does_most(kind):
    assert badge_of(kind, looking_at(*BACK)) == "previous"
    assert badge_of(kind, looking_at(*ROWS)) == "itself"
    assert badge_of(kind, looking_at(*np.zeros(COUNT, int))) == "first"
    assert badge_of(kind, UNIFORM) == "spread"


def test_names_that_only_the_encoder_can_have():
    assert badge_of("encoder_self", looking_at(*ON)) == "next"
    assert badge_of("encoder_self", looking_at(*np.full(COUNT, 7))) == "end token"
    assert badge_of("encoder_self", looking_at(*np.full(COUNT, 3))) == "punctuation"
    # the other piece of the word, or the word again: ▁The ↔ ▁the, ▁fris ↔ bee
    assert badge_of("encoder_self", looking_at(4, 2, 1, 5, 0, 3, 3, 3)) == "same word"


def test_a_cross_attention_that_is_one_to_one_and_keeps_the_order_aligns():
    assert badge_of("cross", looking_at(*ROWS)) == "aligns"
    assert badge_of("cross", looking_at(0, 2, 1, 3, 4, 5, 6, 7)) == "aligns"
    assert badge_of("cross", looking_at(*ROWS[::-1])) == ""  # one to one, but all links cross
    assert badge_of("cross", looking_at(2, 2, 2, 2, 5, 5, 5, 5)) == ""  # in order, but four to one
    assert badge_of("cross", looking_at(*np.full(COUNT, 7))) == "end token"
    assert badge_of("cross", UNIFORM) == "spread"


def test_no_name_where_nothing_dominates():
    half = looking_at(3, 6, 0, 5, 1, 2, 4, 3, amount=0.6)
    for kind in LABELS:
        assert badge_of(kind, half) == ""
        assert badge_of(kind, 0.4 * looking_at(*BACK, amount=0.5) + 0.6 * half) == ""


def test_every_head_gets_its_own_name():
    heads = [looking_at(*BACK), looking_at(*ROWS), UNIFORM]
    weights = np.stack([heads, heads[::-1]]).astype(np.float32)
    found = badges(Axes(weights, LABELS["encoder_self"], None), "encoder_self")
    assert found == [["previous", "itself", "spread"], ["spread", "itself", "previous"]]


def test_a_head_that_gives_its_weight_to_dropped_tokens_is_not_named_by_the_rest():
    head = np.zeros((COUNT, COUNT))
    head[:, -1], head[ROWS, BACK] = 0.8, 0.2
    axes, _ = without_special(axes_of("encoder_self", head))
    assert badges(axes, "encoder_self") == [[""]]
    even = np.full((COUNT, COUNT), 0.2 / (COUNT - 1))
    even[:, -1] = 0.8
    axes, _ = without_special(axes_of("encoder_self", even))
    assert badges(axes, "encoder_self") == [[""]]


def test_one_token_alone_has_measures_and_no_name():
    for kind in LABELS:
        one = Axes(np.ones((1, 2, 1, 1), np.float32), Labels(("▁A",), ("▁A",)), None)
        assert badges(one, kind) == [["", ""]]
        for name in ("entropy", "offset", "diagonal"):
            assert measure(one, kind, name).tolist() == [[0, 0]]


def test_the_measures_are_those_of_one_head_after_another():
    random = np.random.default_rng(0).random((2, 3, COUNT, COUNT))
    for kind in LABELS:
        causal = kind == "decoder_self"
        weights = np.tril(random) if causal else random
        weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
        axes = Axes(weights, LABELS[kind], None)
        for at in np.ndindex(2, 3):
            one = summarise(weights[at], causal=causal)
            assert measure(axes, kind, "entropy")[at] == pytest.approx(one.entropy, abs=1e-5)
            assert measure(axes, kind, "offset")[at] == pytest.approx(one.offset, abs=1e-5)


def test_confidence_leaves_the_end_token_out():
    head = np.zeros((COUNT, COUNT))
    head[:, 7], head[:, 2] = 0.7, 0.3
    axes = axes_of("encoder_self", head, looking_at(*ROWS[:-1], 0, amount=1))
    assert measure(axes, "encoder_self", "confidence")[0] == pytest.approx([0.3, 1])


def test_the_first_row_of_the_decoder_does_not_count():
    axes = axes_of("decoder_self", looking_at(*BACK, amount=1))
    assert measure(axes, "decoder_self", "offset") == pytest.approx(-1)
    assert measure(axes, "decoder_self", "diagonal") == pytest.approx(1)


def test_the_diagonal_of_cross_attention_runs_from_corner_to_corner():
    weights = np.zeros((1, 2, 3, 9), np.float32)  # the middles of the rows are keys 1, 4 and 7
    weights[0, 0, [0, 1, 2], [1, 4, 7]] = 1
    weights[0, 1, [0, 1, 2], [3, 2, 7]] = 1
    axes = Axes(weights, Labels(("a", "b", "c"), tuple("abcdefghi")), None)
    assert measure(axes, "cross", "diagonal")[0] == pytest.approx([0, 4 / 3])
    assert measure(axes, "cross", "offset")[0] == pytest.approx([3, 3])


def test_the_measures_of_what_is_left_are_those_of_rows_that_sum_to_one():
    head = looking_at(*BACK, amount=1) * 0.5
    head[:, 7] += 0.5
    axes, _ = without_special(axes_of("encoder_self", head))
    assert measure(axes, "encoder_self", "entropy")[0, 0] == pytest.approx(0)
    assert measure(axes, "encoder_self", "offset")[0, 0] == pytest.approx(-6 / 7)


def test_each_measure_has_a_line_of_help():
    axes = axes_of("cross", UNIFORM)
    for name, line in MEASURES.items():
        assert measure(axes, "cross", name).shape == (1, 1)
        assert line
        assert "\n" not in line
