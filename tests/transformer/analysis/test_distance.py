"""How far apart the weights of heads are."""

import numpy as np

from transformer.analysis.distance import total_variation


def test_it_is_the_weight_that_was_moved() -> None:
    before = np.array(
        [[[1, 0, 0], [0.5, 0.5, 0]], [[0, 1, 0], [0, 0, 1]]], dtype=np.float32
    )  # two heads
    after = np.array([[[0.75, 0.25, 0], [0.5, 0, 0.5]], [[1, 0, 0], [0, 1, 0]]], dtype=np.float32)
    np.testing.assert_allclose(total_variation(after, before), [(0.25 + 0.5) / 2, 1])
    assert (total_variation(before, before) == 0).all()


def test_heads_that_share_no_key_are_at_1_in_the_decoder_too_whose_first_row_is_all_the_same():
    itself = np.eye(4, dtype=np.float32)
    first = np.zeros_like(itself)
    first[:, 0] = 1
    assert total_variation(itself, first, causal=True) == 1
    assert total_variation(itself, first) == 0.75
    only = np.ones((1, 1), dtype=np.float32)
    assert total_variation(only, only, causal=True) == 0
