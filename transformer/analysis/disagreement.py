"""Where two lenses disagree: how far apart the rows of two maps are."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from transformer.analysis.measures import first_counted_row
from transformer.kinds import Kind
from transformer.trace import Weights

Floats: TypeAlias = npt.NDArray[np.float64]


def row_distances(first: Weights, second: Weights) -> Floats:
    """The total variation distance of each row, ½ Σ_j |p_j − q_j|: the share that lies elsewhere.

    Args:
        first: `[..., query, key]`, rows that sum to 1.
        second: likewise.

    Returns:
        `[..., query]`, 0 where two rows are the same, 1 where they have no key in common.
    """
    distance: Floats = np.abs(first.astype(np.float64) - second).sum(-1) / 2
    return distance


def head_distances(first: Weights, second: Weights, kind: Kind) -> Floats:
    """The mean of `row_distances` over the rows that count, for each head, or for each layer.

    Where one has a single head, all heads together, the other's mean over its heads is compared
    with it.

    Args:
        first: `[layer, head, query, key]`, rows that sum to 1.
        second: likewise, of as many layers.
        kind: of attention; the first row of the decoder's own sees one key alone, in every lens.

    Returns:
        `[layer, head]`, with one head unless both have as many.
    """
    if first.shape[1] != second.shape[1]:
        first, second = (weights.mean(1, keepdims=True) for weights in (first, second))
    counted = first_counted_row(first.shape[2], causal=kind == "decoder_self")
    mean: Floats = row_distances(first, second)[..., counted:].mean(-1)
    return mean
