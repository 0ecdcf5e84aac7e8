"""Additive attention against a loop, and the gradient over the width against a loop in torch."""

import math

import numpy as np
import pytest
import torch

from transformer.analysis.heads.head import Head
from transformer.paper import additive, scaling
from transformer.paper.additive import ADDITIVE, DOT, UNSCALED

DRAW = np.random.default_rng(7)
Q, K = DRAW.normal(size=(3, 5)), DRAW.normal(size=(4, 5))


def test_each_score_is_the_network_of_one_query_and_one_key() -> None:
    weights = additive.draw_weights(5, seed=3)
    scores = additive.additive_scores(Q, K, weights)
    for i, q in enumerate(Q):
        for j, k in enumerate(K):
            hidden = [
                math.tanh(
                    sum(q[c] * weights.W_q[c, a] + k[c] * weights.W_k[c, a] for c in range(5))
                )
                for a in range(5)
            ]
            expected = sum(v * h for v, h in zip(weights.v, hidden, strict=True))
            assert scores[i, j] == pytest.approx(expected, abs=1e-12)


def test_the_dot_products_are_those_of_the_same_projections() -> None:
    weights = additive.draw_weights(5, seed=3)
    scores = additive.dot_product_scores(Q, K, weights)
    for i, j in np.ndindex(3, 4):
        asked = [sum(Q[i, c] * weights.W_q[c, a] for c in range(5)) for a in range(5)]
        key = [sum(K[j, c] * weights.W_k[c, a] for c in range(5)) for a in range(5)]
        expected = sum(a * b for a, b in zip(asked, key, strict=True)) / math.sqrt(5)
        assert scores[i, j] == pytest.approx(expected, abs=1e-12)


def test_random_weights_are_the_softmax_over_what_a_row_sees() -> None:
    seen = np.arange(4) <= np.arange(3)[:, None]
    weights = additive.random_weights(additive.additive_scores, Q, K, seen, seed=3)
    scores = additive.additive_scores(Q, K, additive.draw_weights(5, seed=3))
    for i in range(3):
        powers = [math.exp(score) for score in scores[i, : i + 1]]
        expected = [*(power / sum(powers) for power in powers), *[0.0] * (3 - i)]
        assert weights[i] == pytest.approx(expected)


def test_the_weights_are_drawn_as_glorot_draws_them() -> None:
    weights = additive.draw_weights(400, seed=1)
    assert weights.W_q.std() == pytest.approx(1 / math.sqrt(400), rel=0.02)
    assert weights.W_k.std() == pytest.approx(1 / math.sqrt(400), rel=0.02)
    assert weights.v.std() == pytest.approx(math.sqrt(2 / 401), rel=0.1)
    again, other = additive.draw_weights(400, seed=1), additive.draw_weights(400, seed=2)
    assert np.array_equal(weights.W_q, again.W_q)
    assert not np.array_equal(weights.W_q, other.W_q)
    assert not np.array_equal(weights.W_q, weights.W_k)


def test_without_scale_the_gradient_vanishes_and_with_it_or_added_it_stays() -> None:
    widths = [4, 512]
    gradients = additive.gradients_over_width(widths)
    draw = np.random.default_rng(0)
    for at, width in enumerate(widths):
        q, k = (torch.tensor(draw.standard_normal((rows, width))) for rows in (32, 16))
        added = torch.tensor(
            additive.additive_scores(q.numpy(), k.numpy(), additive.draw_weights(width, 0))
        )
        for name, scores in (
            (DOT, q @ k.T / math.sqrt(width)), (UNSCALED, q @ k.T), (ADDITIVE, added)
        ):  # fmt: skip
            norms = [
                torch.autograd.functional.jacobian(lambda s: s.softmax(-1), row).norm()
                for row in scores
            ]
            assert gradients[name][at] == pytest.approx(float(torch.stack(norms).mean()))
    small, large = ({name: values[at] for name, values in gradients.items()} for at in (0, 1))
    assert small[UNSCALED] > 0.8 * small[DOT]
    assert large[UNSCALED] < 0.5 * min(large[DOT], large[ADDITIVE])
    assert large[DOT] > 0.8 * small[DOT]


def test_the_variance_of_a_dot_product_is_its_width() -> None:
    widths = [1, 16, 256]
    assert scaling.gaussian_dot_variance(widths) == pytest.approx(widths, rel=0.1)


@pytest.mark.parametrize("scale", ["÷ √d_k", "none", "× √d_k"])
def test_a_scale_in_every_head_or_in_one_reaches_the_weights(model, trace, scale) -> None:
    source = torch.tensor([[piece.id for piece in trace.source_pieces]])
    target = torch.tensor([[2, 5]])
    _, plain = model.run_with_cache(source, target)
    for place in (None, ("decoder_self", 1, 2)):
        head = None if place is None else Head(*place)
        edits = scaling.rescale_scores(model, scale, place=head)
        assert len(edits) == (3 * model.config.N if place is None else 1)
        with model.hooks(edits):
            _, edited = model.run_with_cache(source, target)
        point = "decoder.layers.1.self_attention.hook_"
        if place is None:
            point = "encoder.layers.0.self_attention.hook_"  # what it reads is not edited
        q, k = (plain[point + name][0].double() for name in "qk")
        dots = q @ k.transpose(-1, -2)
        if place is not None:
            dots = dots.masked_fill(torch.ones(2, 2).triu(1).bool(), -math.inf)
        for at in range(model.config.h):
            by = {"÷ √d_k": model.config.d_k**-0.5, "none": 1, "× √d_k": model.config.d_k**0.5}
            used = by[scale] if place is None or at == 2 else model.config.d_k**-0.5
            expected = (dots[at] * used).softmax(-1)
            torch.testing.assert_close(
                edited[point + "pattern"][0, at].double(), expected, atol=1e-5, rtol=1e-4
            )
