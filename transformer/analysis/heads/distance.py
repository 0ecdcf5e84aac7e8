"""Distance between two sets of weights of the same heads."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from transformer.analysis.axes import LabelledWeights, mean_of_heads
from transformer.analysis.heads.measures import first_counted_row
from transformer.kinds import Kind

Floats: TypeAlias = npt.NDArray[np.float64]


def row_distances(first: npt.NDArray[np.floating], second: npt.NDArray[np.floating]) -> Floats:
    """Compute the total variation distance of each row, ½ Σ_j |p_j − q_j|.

    Both maps are `[..., query, key]`, with rows that sum to 1.

    Returns:
        `[..., query]`, 0 where two rows are the same, 1 where they have no key in common.
    """
    distance: Floats = np.abs(first.astype(np.float64) - second).sum(-1) / 2
    return distance


def total_variation(
    first: npt.NDArray[np.floating], second: npt.NDArray[np.floating], *, causal: bool = False
) -> Floats:
    """Average ½ Σ_j |a_ij - b_ij| of two rows over the rows: `[..., query, key]` to `[...]`.

    0 where both heads look at the same, 1 where they share no key. Weight that was moved from one
    key to another counts once.

    Rows sum to 1. Where a query sees no later key (`causal`), the first row does not count: it is
    the same in every head.
    """
    counted = first_counted_row(first.shape[-2], causal=causal)
    return np.asarray(row_distances(first, second)[..., counted:].mean(-1))


def head_distances(first: LabelledWeights, second: LabelledWeights, kind: Kind) -> Floats:
    """Compute the `total_variation` of each head, or of each layer.

    Where the two have not the same heads in each layer, as where one has a single head, all heads
    together, the means over their heads are compared.

    Rows sum to 1, and both maps have as many layers and the same tokens. The first row of a causal
    decoder sees one key alone, in every lens.

    Returns:
        `[layer, head]`, NaN where a layer has no such head; with one head unless both have the
        same.
    """
    there = first.has_head
    if np.array_equal(there, second.has_head):
        weights = first.weights, second.weights
    else:
        weights = mean_of_heads(first)[:, None], mean_of_heads(second)[:, None]
        there = there[:, :1]  # each layer has one head
    return np.where(there, total_variation(*weights, causal=first.is_causal(kind)), np.nan)
