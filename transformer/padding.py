"""Sequences of different lengths side by side, as the model reads them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from transformer.config import PAD


def round_up(length: int, multiple: int) -> int:
    """The smallest multiple that is not below the length."""
    return -(-length // multiple) * multiple


def pad_sequences(sequences: Sequence[Sequence[int]], multiple: int = 1) -> Tensor:
    """Pad token ids on the right to the longest of them.

    Args:
        sequences: token ids of each sentence; at least one.
        multiple: pad on to a multiple of this length.

    Returns:
        `[batch, position]`, int64.
    """
    length = round_up(max(map(len, sequences)), multiple)
    padded = np.full((len(sequences), length), PAD, dtype=np.int64)
    for row, ids in enumerate(sequences):
        padded[row, : len(ids)] = ids
    return torch.from_numpy(padded)
