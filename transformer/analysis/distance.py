"""How far apart two sets of weights of the same heads are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from transformer.trace import Weights


def total_variation(first: Weights, second: Weights) -> npt.NDArray[np.float64]:
    """½ Σ_j |a_ij - b_ij| of two rows, mean over the rows: `[..., query, key]` to `[...]`.

    0 where both heads look at the same, 1 where they share no key. Weight that was moved from one
    key to another counts once.
    """
    apart = np.abs(first.astype(np.float64) - second.astype(np.float64))
    rows: npt.NDArray[np.float64] = apart.sum(-1) / 2
    return np.asarray(rows.mean(-1))
