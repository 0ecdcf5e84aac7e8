"""One step of a search through the modules of the model, whose hook points see everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from transformer.cache import Cache
from transformer.masks import padding_mask
from transformer.model import Transformer


class StepDecoder(Protocol):
    """Logits of the next piece of each row; the K beams of a sentence are consecutive rows."""

    def start(self, written: Tensor) -> Tensor:
        """Read the first pieces, the same in all rows of a sentence.

        Args:
            written: `[sentence, position]` token ids, beginning with `<s>`.

        Returns:
            Logits after each of them, `[sentence, position, vocab]`.
        """

    def step(self, rows: Sequence[int], pieces: Sequence[int]) -> Tensor:
        """Take these rows of the last step, and add a piece to each.

        Args:
            rows: the row of the last step that each new row continues, K of one sentence side by
                side; sentences may be left out and change places.
            pieces: the token id that each new row adds.

        Returns:
            Logits of the next piece, `[row, vocab]`.
        """


class PlainDecoder:
    """The model's own modules with their cache; the source is repeated for each beam.

    Args:
        source: `[sentence, source]` token ids, padded on the right.
        K: beams of a sentence.
    """

    def __init__(self, model: Transformer, source: Tensor, K: int) -> None:
        self.model, self.K = model, K
        mask = padding_mask(source)
        rows = torch.arange(source.size(0), device=source.device).repeat_interleave(K)
        self.memory = model.encode(source, mask)[rows]
        self.mask = mask[rows]
        self.cache = Cache(model.config.N)

    def start(self, written: Tensor) -> Tensor:
        """See `StepDecoder.start`."""
        written = written.repeat_interleave(self.K, 0)
        decoded = self.model.decode(written, self.memory, self.mask, self.cache)
        return self.model.logits(decoded[:: self.K])

    def step(self, rows: Sequence[int], pieces: Sequence[int]) -> Tensor:
        """See `StepDecoder.step`."""
        chosen = torch.tensor(rows, device=self.memory.device)
        self.memory, self.mask = self.memory[chosen], self.mask[chosen]
        self.cache.select(chosen)
        piece = torch.tensor(pieces, device=self.memory.device)[:, None]
        decoded = self.model.decode(piece, self.memory, self.mask, self.cache)
        return self.model.logits(decoded[:, -1])
