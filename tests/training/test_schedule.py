"""The learning rate against the paper's equation 3 and its spot values."""

import math

import numpy as np
import pytest

from training.schedule import cooldown_left, learning_rate


def test_it_follows_equation_3_on_both_sides_of_the_peak() -> None:
    steps = np.arange(1, 20_000, 37, dtype=np.float64)
    expected = 512**-0.5 * np.minimum(1 / np.sqrt(steps), steps / math.sqrt(4000) ** 3)
    actual = [learning_rate(int(step), 512, 4000) for step in steps]
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_a_cooldown_falls_to_nothing_in_a_line_at_the_very_end() -> None:
    left = [cooldown_left(step, steps=10, cooldown=4) for step in range(1, 11)]
    assert left == [1, 1, 1, 1, 1, 1, 1, 0.75, 0.5, 0.25]
    assert cooldown_left(10, steps=10, cooldown=0) == 1
    assert learning_rate(10, 64, 5, 2, until_end=0.25) == pytest.approx(
        learning_rate(10, 64, 5, 2) / 4
    )
