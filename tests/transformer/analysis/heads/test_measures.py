"""The measures of a head, against cases that can be done by hand."""

from typing import Any

import numpy as np
import pytest

from tests.transformer.analysis import planted
from transformer import AttentionTrace
from transformer.analysis.axes import LabelledWeights, by_pieces, without_special
from transformer.analysis.heads.measures import (
    MEASURES,
    measure,
    summarise,
    total_variation,
)
from transformer.trace import Labels


def test_offset_is_how_far_ahead_a_position_looks() -> None:
    ahead = np.eye(5, k=2, dtype=np.float32)[:3]  # row i looks at i + 2
    assert summarise(ahead).offset == pytest.approx(2)
    assert summarise(ahead).offset_deviation == pytest.approx(0)
    back = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    assert summarise(back).offset == pytest.approx(-2 / 3)
    by_hand = summarise(np.array([[0.5, 0.5], [0, 1]], np.float32))
    assert by_hand.offset == pytest.approx(0.25)
    assert by_hand.offset_deviation == pytest.approx(np.sqrt(0.1875))


def test_the_first_position_of_the_decoder_is_left_out() -> None:
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.5, 0.25]], np.float32)
    summary = summarise(weights, causal=True)
    assert summary.entropy == pytest.approx(1.25)
    assert summary.max_entropy == pytest.approx((1 + np.log2(3)) / 2)
    assert (summary.query, summary.key, summary.largest) == (1, 0, 0.5)
    assert summary.offset == pytest.approx((-0.5 - 1) / 2)
    assert summarise(weights[:1, :1], causal=True).largest == 1  # unless it is alone


def test_the_measures_are_those_of_one_head_after_another():
    random = np.random.default_rng(0).random((2, 3, planted.COUNT, planted.COUNT))
    for kind in planted.LABELS:
        causal = kind == "decoder_self"
        weights = np.tril(random) if causal else random
        weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
        axes = LabelledWeights(weights, planted.LABELS[kind], None)
        for at in np.ndindex(2, 3):
            summary = summarise(weights[at], causal=causal)
            assert measure(axes, kind, "entropy")[at] == pytest.approx(summary.entropy, abs=1e-5)
            assert measure(axes, kind, "offset")[at] == pytest.approx(summary.offset, abs=1e-5)


def test_the_diagonal_of_cross_attention_runs_from_corner_to_corner():
    weights = np.zeros((1, 2, 3, 9), np.float32)  # the middles of the rows are keys 1, 4 and 7
    weights[0, 0, [0, 1, 2], [1, 4, 7]] = 1
    weights[0, 1, [0, 1, 2], [3, 2, 7]] = 1
    axes = LabelledWeights(weights, Labels(("a", "b", "c"), tuple("abcdefghi")), None)
    assert measure(axes, "cross", "diagonal")[0] == pytest.approx([0, 4 / 3])
    assert measure(axes, "cross", "offset")[0] == pytest.approx([3, 3])


def test_the_measures_of_what_is_left_are_those_of_rows_that_sum_to_one():
    head = planted.looking_at(*planted.BACK, amount=1) * 0.5
    head[:, 7] += 0.5
    axes, _ = without_special(planted.axes_of("encoder_self", head))
    assert measure(axes, "encoder_self", "entropy")[0, 0] == pytest.approx(0)
    assert measure(axes, "encoder_self", "offset")[0, 0] == pytest.approx(-6 / 7)


def anybodys(**given: Any) -> LabelledWeights:
    trace = AttentionTrace.from_arrays(**given)
    return by_pieces(trace, trace.kinds[0])


def test_a_head_that_is_not_there_has_no_measure():
    layers = [np.full((heads, 2, 2), 0.5) for heads in (1, 2)]
    axes = anybodys(encoder_self=layers, source_tokens=["a", "b"])
    for name in MEASURES:
        values = measure(axes, "encoder_self", name)
        np.testing.assert_array_equal(np.isnan(values), [[False, True], [False, False]])


def test_the_separator_of_another_tokenizer_is_an_end_token():
    weights = np.zeros((1, 1, 3, 3))
    weights[..., 0], weights[..., 1], weights[..., 2] = 0.1, 0.2, 0.7
    for end, confidence in (("[SEP]", 0.2), ("<|endoftext|>", 0.2), ("[CLS]", 0.7)):
        axes = anybodys(encoder_self=weights, source_tokens=["a", "b", end])
        assert measure(axes, "encoder_self", "confidence")[0, 0] == pytest.approx(confidence)


def test_heads_that_share_no_key_are_at_1_in_the_decoder_too_whose_first_row_is_all_the_same():
    itself = np.eye(4, dtype=np.float32)
    first = np.zeros_like(itself)
    first[:, 0] = 1
    assert total_variation(itself, first, causal=True) == 1
    assert total_variation(itself, first) == 0.75
    only = np.ones((1, 1), dtype=np.float32)
    assert total_variation(only, only, causal=True) == 0
