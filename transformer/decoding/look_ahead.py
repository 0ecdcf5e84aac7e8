"""The next piece after a prefix, as the model predicts it before the search takes the prefix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from transformer.config import BOS
from transformer.masks import padding_mask
from transformer.model import Transformer


class ForcedLookAhead:
    """A `LookAhead` that reads each prefix by a pass of its own; it serves one search.

    Args:
        source: token ids of the sentence, `</s>` last.
    """

    def __init__(self, model: Transformer, source: Sequence[int]) -> None:
        self._model = model
        self._source = torch.tensor([source], device=model.device)
        self._mask = padding_mask(self._source)

    @torch.inference_mode()
    def __call__(self, tokens: tuple[int, ...]) -> Tensor:
        """Compute log P of each piece after these, `[vocab]`, at least float32."""
        read = torch.tensor([[BOS, *tokens]], device=self._model.device)
        logits = self._model.logits(self._model.decode(read, self._memory, self._mask)[0, -1])
        exact = torch.promote_types(logits.dtype, torch.float32)
        log_p: Tensor = logits.log_softmax(-1, dtype=exact)
        return log_p

    @cached_property
    def _memory(self) -> Tensor:
        # not before it is asked for: few sentences come near a forbidden word
        return self._model.encode(self._source, self._mask)
