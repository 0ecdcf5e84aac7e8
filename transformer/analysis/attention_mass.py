"""Attention mass: how evenly cross-attention covers the source, a signal of detached translations.

The mass of a source token is the cross-attention that it receives, mean over the written tokens,
heads and layers. Hallucinations leave most of it on few tokens (Guerreiro et al. 2023, "Optimal
Transport for Unsupervised Hallucination Detection in NMT", arXiv 2212.09631). The distance of two
sentences is the optimal transport in one dimension between their sorted masses. Each mass is
multiplied by the number of source tokens first, so that the lengths of sentences may differ.
"""

from collections.abc import Iterable

import numpy as np

from transformer.analysis.axes import by_pieces, mean_of_heads
from transformer.arrays import Floats
from transformer.trace import AttentionTrace

NEAREST = 4  # lines over which the distance to lines is a mean


def source_mass(trace: AttentionTrace, layer: int | None = None) -> Floats:
    """Return the mass of each source token, `[source]`, which sums to 1; of one layer or all."""
    weights = mean_of_heads(by_pieces(trace, "cross"))  # [layer, target, source]
    chosen = weights if layer is None else weights[[layer]]
    mass: Floats = chosen.mean((0, 1), dtype=np.float64)
    return mass / mass.sum()


def mass_distance(first: Floats, second: Floats) -> float:
    """Return the share of one sentence's mass to move until it is sorted as the other's, 0 to 1.

    It is half the Wasserstein-1 distance, which in one dimension is the area between the quantile
    functions.
    """
    ends = (np.arange(1, len(mass) + 1) / len(mass) for mass in (first, second))
    edges = np.union1d(*ends)
    widths = np.diff(edges, prepend=0)
    values = (
        np.sort(mass)[((edges - widths / 2) * len(mass)).astype(int)] * len(mass)
        for mass in (first, second)
    )
    return float(np.abs(np.subtract(*values)) @ widths / 2)


def distance_to_even(mass: Floats) -> float:
    """Return the share of the mass to move until all tokens have the same (Wass-to-Unif)."""
    return mass_distance(mass, np.ones(1))


def distance_to_lines(mass: Floats, lines: Iterable[Floats]) -> float:
    """Return the mean distance to the `NEAREST` of some lines' masses (Wass-to-Data)."""
    return float(np.mean(sorted(mass_distance(mass, other) for other in lines)[:NEAREST]))
