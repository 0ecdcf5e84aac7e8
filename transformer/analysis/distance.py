"""Distance between two sets of weights of the same heads."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from transformer.analysis.heads.measures import first_counted_row

Floats: TypeAlias = npt.NDArray[np.float64]


def row_distances(first: npt.NDArray[np.floating], second: npt.NDArray[np.floating]) -> Floats:
    """Compute the total variation distance of each row, ½ Σ_j |p_j − q_j|.

    Args:
        first: `[..., query, key]`, rows that sum to 1.
        second: the other map, of the same shape.

    Returns:
        `[..., query]`, 0 where two rows are the same, 1 where they have no key in common.
    """
    distance: Floats = np.abs(first.astype(np.float64) - second).sum(-1) / 2
    return distance


def total_variation(
    first: npt.NDArray[np.floating], second: npt.NDArray[np.floating], *, causal: bool = False
) -> Floats:
    """½ Σ_j |a_ij - b_ij| of two rows, mean over the rows: `[..., query, key]` to `[...]`.

    0 where both heads look at the same, 1 where they share no key. Weight that was moved from one
    key to another counts once.

    Args:
        first: `[..., query, key]`, rows that sum to 1.
        second: the other map, of the same shape.
        causal: whether a query sees no later key: then the first row, which is the same in every
            head, does not count.
    """
    counted = first_counted_row(first.shape[-2], causal=causal)
    return np.asarray(row_distances(first, second)[..., counted:].mean(-1))
