"""The scale of q·k against the formulas, in float64."""

import math

import numpy as np
import pytest
import torch

from transformer.paper import scaling

SCORES = np.array([0.3, -2.0, 1.7, 0.0, -np.inf])


def test_the_papers_scale_and_what_it_is_taken_for() -> None:
    assert scaling.factor("÷ √d_k", 64) == pytest.approx(1 / 8)
    assert scaling.factor("none", 64) == 1
    assert scaling.factor("× √d_k", 64) == pytest.approx(8)


def test_a_softmax_is_that_of_torch_and_what_is_hidden_gets_nothing() -> None:
    expected = torch.tensor(SCORES).softmax(-1).numpy()
    np.testing.assert_allclose(scaling.softmax(SCORES), expected, rtol=1e-12)
    assert scaling.softmax(SCORES)[-1] == 0
    np.testing.assert_allclose(scaling.softmax(1000 * SCORES)[2], 1)


def test_the_gradient_is_autograds() -> None:
    scores = torch.tensor(SCORES[:-1], requires_grad=True)
    expected = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores).numpy()
    np.testing.assert_allclose(
        scaling.softmax_gradient(scaling.softmax(SCORES[:-1])), expected, atol=1e-12
    )


def test_a_row_saturates_as_its_scale_grows() -> None:
    dots = np.array([1.0, 3.0, -2.0, 0.5])
    at = np.array([1e-9, 0.5, 50.0])
    row = scaling.saturation(dots, at)
    np.testing.assert_allclose(row.largest[[0, 2]], [0.25, 1], atol=1e-6)
    np.testing.assert_allclose(row.entropy[[0, 2]], [2, 0], atol=1e-6)
    assert row.gradient[2] == pytest.approx(0, abs=1e-6)
    alpha = np.exp(0.5 * dots) / np.exp(0.5 * dots).sum()
    assert row.largest[1] == pytest.approx(alpha.max())
    assert row.entropy[1] == pytest.approx(-(alpha * np.log2(alpha)).sum())
    squares = sum((alpha[i] * ((i == j) - alpha[j])) ** 2 for i in range(4) for j in range(4))
    assert row.gradient[1] == pytest.approx(math.sqrt(squares))


def test_the_variance_of_a_head_is_counted_over_all_pairs() -> None:
    draw = np.random.default_rng(3)
    q, k = draw.normal(1, 2, (5, 4)), draw.normal(-1, 3, (7, 4))
    for m, variance in enumerate(scaling.dot_variance(q, k), start=1):
        dots = [q[i, :m] @ k[j, :m] for i in range(5) for j in range(7)]
        assert variance == pytest.approx(np.var(dots))


def test_what_is_masked_stays_hidden() -> None:
    scores = torch.tensor([[[[0.5, -math.inf]]]])
    assert scaling.rescale(4.0)(scores, "")[0, 0, 0].tolist() == [2.0, -math.inf]  # type: ignore[index]
    assert scores[0, 0, 0, 0] == 0.5
    scaling.rescale(4.0, 0)(scores, "")
    assert scores[0, 0, 0, 0] == 0.5
