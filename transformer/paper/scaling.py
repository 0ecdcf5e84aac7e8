"""The scale of q·k: saturation, its gradient, and why the variance grows (§3.2.1)."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from torch import Tensor

from transformer import choices, hooks
from transformer.analysis.heads import measures
from transformer.analysis.heads.head import Head
from transformer.arrays import AnyFloats, Bools, Floats
from transformer.kinds import KINDS, Kind, attention_name
from transformer.model import Transformer

Scale = Literal["÷ √d_k", "none", "× √d_k"]


@choices.check_choices
def factor(scale: Scale, d_k: int) -> float:
    """Return the factor of q·k before the softmax, 1/√d_k in the paper (equation 1)."""
    power = {"÷ √d_k": -0.5, "none": 0.0, "× √d_k": 0.5}[scale]
    return float(d_k**power)


def rescale(by: float, head: int | None = None) -> hooks.Hook:
    """Make a hook that multiplies the scores by more than 0: −∞ stays where masked."""

    def hook(scores: Tensor, name: str) -> Tensor:
        del name
        if head is None:
            return scores * by
        scores = scores.clone()
        scores[:, head] *= by
        return scores

    return hook


def rescale_scores(
    model: Transformer, scale: Scale, place: Head | None = None
) -> dict[str, hooks.Hook]:
    """Return the hooks that give every head, or one, another scale, for `model.hooks(...)`."""

    def edit(kind: Kind, layer: int, head: int | None = None) -> tuple[str, hooks.Hook]:
        # of the model's own scores, which are already divided by √d_k
        d_k = model.config.stack(kind).d_k
        by = factor(scale, d_k) * math.sqrt(d_k)
        return f"{attention_name(kind, layer)}.hook_attn_scores", rescale(by, head)

    if place is not None:
        return dict([edit(*place)])
    stacks = {kind: model.config.stack(kind) for kind in KINDS}
    return dict(edit(kind, layer) for kind in KINDS for layer in range(stacks[kind].N))


def softmax(scores: Floats) -> Floats:
    """Apply the softmax over the last axis; -∞ becomes 0."""
    shifted = np.exp(scores - scores.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


def softmax_gradient(weights: Floats) -> Floats:
    """Compute ∂α_i / ∂s_j = α_i (δ_ij - α_j), `[key, key]`, of one row of weights, `[key]`."""
    return np.diag(weights) - np.outer(weights, weights)


class Saturation(NamedTuple):
    """One row of scores at several scales, each `[scale]`."""

    largest: Floats  # the largest weight; 1 where the row looks at one key alone
    entropy: Floats  # the entropy in bits
    gradient: Floats  # Frobenius norm of `softmax_gradient`; 0 where no gradient flows


def saturation(dots: Floats, factors: Floats) -> Saturation:
    """Apply the softmax to a row of dot products, `[key]`, multiplied by each of the factors."""
    weights = softmax(factors[:, None] * dots)  # [scale, key]
    return Saturation(
        largest=weights.max(-1),
        entropy=measures.entropy(weights),
        gradient=np.array([np.linalg.norm(softmax_gradient(row)) for row in weights]),
    )


def dot_products(q: AnyFloats, k: AnyFloats, query: int, seen: Bools) -> Floats:
    """Compute q · k of one query and each key that it sees, `[key]`; `seen` is `[query, key]`."""
    dots: Floats = k.astype(np.float64) @ q[query].astype(np.float64)
    return dots[seen[query]]


def dot_variance(q: AnyFloats, k: AnyFloats) -> Floats:
    """Measure how the variance of q·k over all pairs grows with the width m, `[m]` from 1 to d_k.

    For independent components of mean 0 and variance 1 it is the width itself (footnote of §3.2.1).
    `q` is `[query, d_k]`, and `k` is `[key, d_k]`.
    """
    q, k = q.astype(np.float64), k.astype(np.float64)
    mean_q, mean_k = q.mean(0), k.mean(0)  # [d_k]
    cov_q, cov_k = (np.atleast_2d(np.cov(x, rowvar=False, bias=True)) for x in (q, k))  # [d_k, d_k]
    # covariance over all pairs of the products q_a k_a and q_b k_b, without an array of all pairs
    covariance = np.outer(mean_q, mean_q) * cov_k + np.outer(mean_k, mean_k) * cov_q + cov_q * cov_k
    variance: Floats = covariance.cumsum(0).cumsum(1).diagonal()  # sums of the leading blocks
    return variance


def gaussian_dot_variance(widths: Sequence[int]) -> Floats:
    """Measure the variance of q·k for components that are drawn from N(0, 1), `[width]`."""
    draw = np.random.default_rng(0)
    variances = []
    for width in widths:
        q, k = draw.standard_normal((2, 4096, width))
        variances.append((q * k).sum(-1).var())
    return np.array(variances)
