"""Attention weights and their labels as the pictures take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viz.draw.labels import shown

if TYPE_CHECKING:
    from transformer.trace import Labels


def to_bytes(weights: NDArray) -> NDArray[np.uint8]:
    """One byte a weight, 0..1 to 0..255: finer than an eye can tell on a small map."""
    return np.rint(np.clip(weights, 0, 1) * 255).astype(np.uint8)


def check(weights: NDArray, labels: Labels, *, dimensions: int) -> None:
    """A label beside another word's weight is the one fault that nobody would see: refuse it."""
    expected = (len(labels.queries), len(labels.keys))
    if weights.ndim != dimensions or weights.shape[-2:] != expected:
        raise ValueError(
            f"weights of shape {weights.shape} for {expected[0]} queries and {expected[1]} keys"
        )
    if 0 in weights.shape:
        raise ValueError(f"nothing to draw in weights of shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("some weights are not numbers")


def shown_reads(reads: Sequence[str] | None, labels: Labels) -> list[str] | None:
    """What the decoder reads at each query, as a person reads it."""
    if reads is None:
        return None
    if len(reads) != len(labels.queries):
        raise ValueError(f"{len(reads)} tokens read for {len(labels.queries)} queries")
    return shown(reads)
