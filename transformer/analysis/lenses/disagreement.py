"""Where two lenses disagree: how far apart the rows of two maps are."""

from __future__ import annotations

import numpy as np

from transformer.analysis.axes import LabelledWeights, mean_of_heads
from transformer.analysis.distance import Floats, row_distances
from transformer.analysis.heads.measures import first_counted_row
from transformer.kinds import Kind


def head_distances(first: LabelledWeights, second: LabelledWeights, kind: Kind) -> Floats:
    """The mean of `row_distances` over the rows that count, for each head, or for each layer.

    Where the two have not the same heads in each layer, as where one has a single head, all heads
    together, the means over their heads are compared.

    Args:
        first: rows that sum to 1.
        second: likewise, of as many layers and the same tokens.
        kind: of attention; the first row of a causal decoder sees one key alone, in every lens.

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
    counted = first_counted_row(len(first.labels.queries), causal=first.is_causal(kind))
    distances = row_distances(*weights)[..., counted:].mean(-1)
    return np.where(there, distances, np.nan)
