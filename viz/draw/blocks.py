"""Means of blocks, where there are more values than a screen has pixels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def block_size(count: int, most: int) -> int:
    """Return the number of neighbours that share a cell, so that there are at most `most` cells."""
    return math.ceil(count / most)


def block_means(values: NDArray, sizes: tuple[int, int]) -> NDArray[np.float32]:
    """Compute the mean of each block of the last two axes; the last block may be smaller.

    Args:
        values: `[..., row, column]`.
        sizes: rows and columns of a block.
    """
    for axis, size in zip((-2, -1), sizes, strict=True):
        if size > 1:
            starts = np.arange(0, values.shape[axis], size)
            sums = np.add.reduceat(values, starts, axis=axis)
            counts = np.diff([*starts, values.shape[axis]])
            values = sums / (counts[:, None] if axis == -2 else counts)
    return values.astype(np.float32, copy=False)
