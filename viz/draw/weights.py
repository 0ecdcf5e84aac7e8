"""Attention weights and their labels as the pictures take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viz.draw.labels import decoder_rows

if TYPE_CHECKING:
    from transformer.trace import Labels


def to_bytes(weights: NDArray) -> NDArray[np.uint8]:
    """One byte a weight, 0..1 to 0..255: finer than an eye can tell on a small map."""
    return np.rint(np.clip(weights, 0, 1) * 255).astype(np.uint8)


def check(weights: NDArray, labels: Labels, *, dimensions: int) -> None:
    """Refuse labels that do not fit the weights: nobody would see that fault."""
    expected = (len(labels.queries), len(labels.keys))
    if weights.ndim != dimensions or weights.shape[-2:] != expected:
        raise ValueError(
            f"weights of shape {weights.shape} for {expected[0]} queries and {expected[1]} keys"
        )
    if 0 in weights.shape:
        raise ValueError(f"nothing to draw in weights of shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("some weights are not numbers")


def named_rows(
    reads: Sequence[str] | None, writes: Sequence[str] | None, labels: Labels
) -> list[str] | None:
    """Return what each row of the decoder reads and writes; None if neither is known.

    Args:
        reads: `[query]`, where the rows are named by what is written.
        writes: `[query]`, where they are named by what is read.
        labels: the tokens of both axes.

    Raises:
        ValueError: if one is missing or too many.
    """
    if reads is None and writes is None:
        return None
    reads, writes = (labels.queries if tokens is None else tokens for tokens in (reads, writes))
    if not len(reads) == len(writes) == len(labels.queries):
        raise ValueError(f"{len(reads)} read, {len(writes)} written, {len(labels.queries)} rows")
    return decoder_rows(reads, writes)
