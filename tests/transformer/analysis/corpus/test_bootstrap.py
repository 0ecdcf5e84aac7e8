"""Intervals are those of the resampled sentences, the same for the same seed."""

import numpy as np
import pytest

from transformer.analysis.corpus.stored import mean_interval, resampled_weights


def test_the_same_seed_gives_the_same_interval_and_another_another() -> None:
    values = np.random.default_rng(5).normal(3, 2, size=(200, 2))
    first, again, other = (
        mean_interval(values, resampled_weights(200, seed), np.ones(200)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first.low, other.low)
    np.testing.assert_array_equal(first.value, other.value)
    # of 200 normal values the mean's 95 % interval is ± 1.96 · 2 / √200
    assert first.high - first.low == pytest.approx([2 * 1.96 * 2 / 200**0.5] * 2, rel=0.15)
    assert (first.low < first.value).all()
    assert (first.value < first.high).all()


def test_sentences_count_by_their_pieces_and_resamples_by_their_draws() -> None:
    weights = np.array([[2.0, 0], [0, 2], [1, 1]])
    found = mean_interval(np.array([1.0, 4.0]), weights, np.array([10.0, 5]))
    assert found.value == pytest.approx((10 + 20) / 15)
    assert found.low == pytest.approx(np.quantile([1, 4, 2], 0.025))
    assert found.high == pytest.approx(np.quantile([1, 4, 2], 0.975))
    assert resampled_weights(7, 0).sum(-1).tolist() == [7] * 1000
