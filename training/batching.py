"""Batches of about the same number of tokens, of sentences of about the same length (§5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from training.corpus import EncodedText
from transformer.config import BOS, EOS, PAD
from transformer.padding import pad_sequences, round_up


@dataclass(frozen=True)
class Batch:
    """Sentence pairs as tensors, padded on the right.

    Args:
        source: `[batch, source]`, ending with `</s>`.
        target: `[batch, target]`, beginning with `<s>`: what the decoder reads (§3.1).
        labels: `[batch, target]`, ending with `</s>`: what the decoder is to predict.
    """

    source: Tensor
    target: Tensor
    labels: Tensor

    def to(self, device: torch.device) -> Batch:
        """A copy on another device."""
        return Batch(
            *(t.to(device, non_blocking=True) for t in (self.source, self.target, self.labels))
        )

    def pin_memory(self) -> Batch:
        """A copy in pinned memory, from which a GPU copies asynchronously."""
        return Batch(*(t.pin_memory() for t in (self.source, self.target, self.labels)))

    def tokens(self) -> int:
        """Target tokens, `</s>` included, padding not counted."""
        return int((self.labels != PAD).sum())


def make_batch(text: EncodedText, rows: Sequence[int] | np.ndarray, multiple: int = 1) -> Batch:
    """The batch of these sentence pairs; lengths are padded to a multiple of `multiple`."""
    source = pad_sequences([[*text.source[i], EOS] for i in rows], multiple)
    target = pad_sequences([[BOS, *text.target[i]] for i in rows], multiple)
    labels = pad_sequences([[*text.target[i], EOS] for i in rows], multiple)
    return Batch(source, target, labels)


class TokenBatches:
    """Groups sentence pairs of similar length into batches, anew for each epoch.

    Args:
        text: the encoded sentences.
        batch_tokens: at most so many tokens on each side of a batch, padding included.
        seed: decides, with the number of the epoch, the grouping and its order.
        multiple: as it will be passed to `make_batch`.
    """

    def __init__(self, text: EncodedText, batch_tokens: int, seed: int, multiple: int = 1) -> None:
        self.batch_tokens = batch_tokens
        self.seed, self.multiple = seed, multiple
        self.source_lengths = text.source.lengths() + 1
        self.target_lengths = text.target.lengths() + 1

    def epoch(self, number: int) -> list[np.ndarray]:
        """Row numbers of each batch of this epoch; the same number gives the same batches."""
        random = np.random.default_rng((self.seed, number))
        shuffled = random.permutation(len(self.source_lengths))
        # stable sorts on shuffled rows: within equal lengths the order stays random
        by_length = np.lexsort((self.source_lengths[shuffled], self.target_lengths[shuffled]))
        batches = self._cut(shuffled[by_length])
        return [batches[i] for i in random.permutation(len(batches))]

    def _cut(self, order: np.ndarray) -> list[np.ndarray]:
        batches: list[np.ndarray] = []
        start, longest = 0, 0
        for end, row in enumerate(order):
            length = int(max(self.source_lengths[row], self.target_lengths[row]))
            padded = round_up(max(longest, length), self.multiple)
            if end > start and padded * (end - start + 1) > self.batch_tokens:
                batches.append(order[start:end])
                start, longest = end, 0
            longest = max(longest, length)
        batches.append(order[start:])
        return batches
