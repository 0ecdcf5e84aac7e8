"""Arrays for the pictures: checked, in bytes, averaged."""

import math

import numpy as np
from numpy.typing import NDArray

from transformer.trace import Labels


def to_bytes(weights: NDArray) -> NDArray[np.uint8]:
    """Quantise weights from 0..1 to 0..255, one byte each: finer than visible on a small map."""
    return np.rint(np.clip(weights, 0, 1) * 255).astype(np.uint8)


def check(weights: NDArray, labels: Labels, *, dimensions: int) -> None:
    """Refuse labels that do not fit the weights: the fault would not be visible."""
    expected = (len(labels.queries), len(labels.keys))
    if weights.ndim != dimensions or weights.shape[-2:] != expected:
        raise ValueError(
            f"weights of shape {weights.shape} for {expected[0]} queries and {expected[1]} keys"
        )
    if 0 in weights.shape:
        raise ValueError(f"nothing to draw in weights of shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("some weights are not numbers")


def block_size(count: int, most: int) -> int:
    """Return the number of neighbours that share a cell, so that there are at most `most` cells."""
    return math.ceil(count / most)


def block_means(values: NDArray, sizes: tuple[int, int]) -> NDArray[np.float32]:
    """Compute the mean of each block, of `sizes` rows and columns, of `[..., row, column]`.

    The last block may be smaller.
    """
    for axis, size in zip((-2, -1), sizes, strict=True):
        if size > 1:
            starts = np.arange(0, values.shape[axis], size)
            sums = np.add.reduceat(values, starts, axis=axis)
            counts = np.diff([*starts, values.shape[axis]])
            values = sums / (counts[:, None] if axis == -2 else counts)
    return values.astype(np.float32, copy=False)
