"""How far apart the weights of heads are."""

import numpy as np

from transformer.analysis.distance import total_variation


def test_it_is_the_weight_that_was_moved() -> None:
    before = np.float32([[[1, 0, 0], [0.5, 0.5, 0]], [[0, 1, 0], [0, 0, 1]]])  # two heads
    after = np.float32([[[0.75, 0.25, 0], [0.5, 0, 0.5]], [[1, 0, 0], [0, 1, 0]]])
    np.testing.assert_allclose(total_variation(after, before), [(0.25 + 0.5) / 2, 1])
    assert (total_variation(before, before) == 0).all()
