"""Additive attention beside dot-product attention (§3.2.1; Bahdanau et al. 2015)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from transformer.arrays import AnyFloats, Bools, Floats
from transformer.paper.scaling import softmax, softmax_gradient

DOT, UNSCALED, ADDITIVE = "dot-product, ÷ √dₖ", "dot-product, no scale", "additive"


class AdditiveWeights(NamedTuple):
    """A feed-forward network with one hidden layer, which scores a query and a key."""

    W_q: Floats  # `[d_k, hidden]`
    W_k: Floats  # `[d_k, hidden]`
    v: Floats  # `[hidden]`


def draw_weights(d_k: int, seed: int) -> AdditiveWeights:
    """Draw weights as training would begin (Glorot), with a hidden layer as wide as the query."""
    draw = np.random.default_rng(seed)
    W_q, W_k = draw.standard_normal((2, d_k, d_k)) * d_k**-0.5
    return AdditiveWeights(W_q, W_k, draw.standard_normal(d_k) * (2 / (d_k + 1)) ** 0.5)


def additive_scores(q: Floats, k: Floats, weights: AdditiveWeights) -> Floats:
    """Compute vᵀ tanh(W_q q + W_k k) of each query, `[query, d_k]`, and key: `[query, key]`."""
    asked = k @ weights.W_k
    # a row at a time: the hidden layer of all pairs would be d_k times as large as the scores
    return np.array([np.tanh(row + asked) @ weights.v for row in q @ weights.W_q])


def dot_product_scores(q: Floats, k: Floats, weights: AdditiveWeights) -> Floats:
    """Compute the scaled dot products of the same projections, `[query, key]`."""
    return (q @ weights.W_q) @ (k @ weights.W_k).T * q.shape[-1] ** -0.5


def random_weights(
    scores: Callable[[Floats, Floats, AdditiveWeights], Floats],
    q: AnyFloats,
    k: AnyFloats,
    seen: Bools,
    seed: int,
) -> Floats:
    """Compute weights over the `seen` keys by randomly drawn projections, `[query, key]`."""
    drawn = draw_weights(q.shape[-1], seed)
    exact = scores(q.astype(np.float64), k.astype(np.float64), drawn)
    return softmax(np.where(seen, exact, -np.inf))


def gradients_over_width(
    widths: Sequence[int], queries: int = 32, keys: int = 16, seed: int = 0
) -> dict[str, Floats]:
    """Measure the mean norm of the softmax's gradient for components from N(0, 1), `[width]`."""
    draw = np.random.default_rng(seed)
    norms: dict[str, list[float]] = {DOT: [], UNSCALED: [], ADDITIVE: []}
    for width in widths:
        q, k = draw.standard_normal((queries, width)), draw.standard_normal((keys, width))
        dots, added = q @ k.T, additive_scores(q, k, draw_weights(width, seed))
        for name, scores in ((DOT, dots * width**-0.5), (UNSCALED, dots), (ADDITIVE, added)):
            rows = softmax(scores)
            norms[name].append(np.mean([np.linalg.norm(softmax_gradient(row)) for row in rows]))
    return {name: np.array(values) for name, values in norms.items()}
