"""Where two lenses disagree: how far apart the rows of two maps are."""

from __future__ import annotations

from transformer.analysis.distance import Floats, row_distances
from transformer.analysis.heads.measures import first_counted_row
from transformer.kinds import Kind
from transformer.trace import Weights


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
