"""Keys and values of the positions decoded so far, so that each step projects only one."""

from __future__ import annotations

import torch
from torch import Tensor

from transformer.attention import MultiHeadAttention


class LayerCache:
    """One decoder layer's keys and values, each `[batch, head, key, d_k or d_v]`."""

    def __init__(self) -> None:
        self._self: tuple[Tensor, Tensor] | None = None
        self._cross: tuple[Tensor, Tensor] | None = None

    def extend_self(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append the new positions of decoder self-attention and return all of them."""
        if self._self is not None:
            k = torch.cat((self._self[0], k), dim=2)
            v = torch.cat((self._self[1], v), dim=2)
        self._self = (k, v)
        return k, v

    def cross(self, attention: MultiHeadAttention, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Project the encoder's output at the first step; later steps return the stored result."""
        if self._cross is None:
            self._cross = attention.keys_and_values(memory)
        return self._cross

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order; `rows` is `[new batch]`."""
        if self._self is not None:
            self._self = (self._self[0][rows], self._self[1][rows])
        if self._cross is not None:
            self._cross = (self._cross[0][rows], self._cross[1][rows])


class Cache:
    """Keys and values of all decoder layers, kept between steps.

    Args:
        N: number of decoder layers.
    """

    def __init__(self, N: int) -> None:
        self.layers = [LayerCache() for _ in range(N)]
        self.length = 0  # positions decoded so far

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch in every layer, as a beam search reorders them."""
        for layer in self.layers:
            layer.select(rows)
