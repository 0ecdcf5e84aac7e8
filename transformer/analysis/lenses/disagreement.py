"""Disagreement of two lenses: the distance between the rows of two maps."""

from __future__ import annotations

import numpy as np

from transformer.analysis.axes import LabelledWeights, mean_of_heads
from transformer.analysis.distance import Floats, total_variation
from transformer.kinds import Kind


def head_distances(first: LabelledWeights, second: LabelledWeights, kind: Kind) -> Floats:
    """Compute the `total_variation` of each head, or of each layer.

    Where the two have not the same heads in each layer, as where one has a single head, all heads
    together, the means over their heads are compared.

    Args:
        first: the first map, with rows that sum to 1.
        second: the second map, of as many layers and the same tokens.
        kind: the kind of attention; the first row of a causal decoder sees one key alone, in every
            lens.

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
