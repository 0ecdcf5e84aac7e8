"""Keys and values of the positions decoded so far, so that each step projects only one."""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer.attention import MultiHeadAttention
from transformer.config import TransformerConfig


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
    """Keys and values of all N decoder layers, kept between steps."""

    def __init__(self, N: int) -> None:
        self.layers = [LayerCache() for _ in range(N)]
        self.length = 0  # positions decoded so far

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch in every layer, as a beam search reorders them."""
        for layer in self.layers:
            layer.select(rows)


FIRST_ROOM = 32  # positions; doubled whenever they are full


class BeamCache:
    """Keys and values of all layers, side by side in one tensor."""

    def __init__(self, config: TransformerConfig, rows: int, like: Tensor) -> None:
        config = config.decoder
        self.h, self.d_k, self.d_v = config.h, config.d_k, config.d_v
        self.rows, self.length = rows, 0
        width = config.h * (config.d_k + config.d_v)
        # [layer, row, position, width]; the first `rows` rows and `length` positions are in use
        self._buffer = like.new_empty(config.N, rows, FIRST_ROOM, width)
        self._view()

    def append(self, layer: int, keys_and_values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the new positions of one layer, `[row, position, h * (d_k + d_v)]`.

        Return K and V of all positions, each `[row, head, key, d_k or d_v]`.
        """
        new = keys_and_values.size(1)
        self._written[layer].narrow(1, self.length, new).copy_(keys_and_values)
        end = self.length + new
        return self._keys[layer].narrow(2, 0, end), self._values[layer].narrow(2, 0, end)

    def make_room(self, new: int) -> None:
        """Enlarge the buffer, if needed, for `new` positions after those in use."""
        room = self._buffer.size(2)
        if self.length + new > room:
            N, rows, _, width = self._buffer.shape
            buffer = self._buffer.new_empty(N, rows, max(2 * room, self.length + new), width)
            buffer[:, :, : self.length] = self._buffer[:, :, : self.length]
            self._buffer = buffer
            self._view()

    def select(self, rows: Sequence[int]) -> None:
        """Reorder the rows: row i becomes `rows[i]`; rows may be repeated and left out."""
        if len(rows) > self._buffer.size(1):
            self._buffer = self._buffer[:, rows]
        else:
            moved = [to for to, row in enumerate(rows) if row != to]
            used = self._buffer[:, :, : self.length]
            if any(rows[to] in moved for to in moved):  # one is overwritten before it is read
                used[:, moved] = used[:, [rows[to] for to in moved]]
            else:
                for to in moved:
                    used.select(1, to).copy_(used.select(1, rows[to]))
        if len(rows) != self.rows:
            self.rows = len(rows)
            self._view()

    def _view(self) -> None:
        """Renew the views of the rows in use, by layer: whole, and its keys and values by head."""
        used = self._buffer[:, : self.rows]
        keys, values = used.split((self.h * self.d_k, self.h * self.d_v), dim=-1)
        self._written = used.unbind(0)
        self._keys = keys.unflatten(-1, (self.h, self.d_k)).transpose(2, 3).unbind(0)
        self._values = values.unflatten(-1, (self.h, self.d_v)).transpose(2, 3).unbind(0)
