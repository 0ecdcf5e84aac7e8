"""Batches of about the same number of tokens, of sentences of about the same length (§5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.corpus import EncodedText
from training.data.sentences import Counts, Sentences, spans
from transformer.config import BOS, EOS, PAD
from transformer.padding import round_up


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


def make_batch(
    text: EncodedText, rows: Sequence[int] | Counts, multiple: int = 1, most: int | None = None
) -> Batch:
    """The batch of these sentence pairs.

    Args:
        multiple: lengths are padded to a multiple of it.
        most: of these lengths, as far as no sentence is longer; no limit unless given.
    """
    numbers = np.asarray(rows, dtype=np.int64)
    source, target = text.source.take(numbers), text.target.take(numbers)
    return Batch(
        _ending(_padded(source, multiple, most), source),
        _beginning(_padded(target, multiple, most, shift=1)),
        _ending(_padded(target, multiple, most), target),
    )


def _padded(sentences: Sentences, multiple: int, most: int | None, shift: int = 0) -> Counts:
    """`[sentence, position]`, the ids from this position on, with room for one special piece."""
    lengths = sentences.lengths()
    longest = int(lengths.max()) + 1
    width = round_up(longest, multiple)
    if most is not None and width > most:
        width = max(longest, most)
    padded = np.full((len(lengths), width), PAD, dtype=np.int64)
    starts = np.arange(len(lengths)) * width + shift
    padded.ravel()[spans(starts, lengths)] = sentences.stored
    return padded


def _ending(padded: Counts, sentences: Sentences) -> Tensor:
    padded[np.arange(len(sentences)), sentences.lengths()] = EOS
    return torch.from_numpy(padded)


def _beginning(padded: Counts) -> Tensor:
    padded[:, 0] = BOS
    return torch.from_numpy(padded)


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
        self.source_lengths = _smallest(text.source.lengths() + 1)
        self.target_lengths = _smallest(text.target.lengths() + 1)

    def epoch(self, number: int, rows: Counts | None = None) -> list[Counts]:
        """Row numbers of each batch of this epoch; the same number gives the same batches.

        Args:
            rows: the rows that this epoch reads, some perhaps more than once; all unless given.
        """
        random = np.random.default_rng((self.seed, number))
        if rows is None:
            shuffled = random.permutation(len(self.source_lengths))
        else:
            shuffled = rows[random.permutation(len(rows))]
        order = self._by_length(shuffled)
        longer = np.maximum(self.source_lengths[order], self.target_lengths[order])
        batches = cut(order, longer, self.batch_tokens, self.multiple)
        return [batches[i] for i in random.permutation(len(batches))]

    def _by_length(self, rows: Counts) -> Counts:
        """Sorted by the target's length and, within it, the source's.

        A stable sort leaves rows of equal lengths in random order; one of small numbers takes time
        in proportion to the rows.
        """
        for lengths in (self.source_lengths, self.target_lengths):
            rows = rows[np.argsort(lengths[rows], kind="stable")]
        return rows


def cut(
    rows: Counts, lengths: NDArray[np.integer[Any]], most_tokens: int, multiple: int = 1
) -> list[Counts]:
    """Cut rows into as few batches as their size allows.

    Args:
        rows: numbers of sentence pairs, in order.
        lengths: `[row]`, the longer side of each of them.
        most_tokens: of a batch, padding included, unless a single row has more.
        multiple: of which padded lengths are multiples.

    Returns:
        Consecutive rows; together all of them.
    """
    batches: list[Counts] = []
    start = 0
    while start < len(rows):
        most = most_tokens // round_up(int(lengths[start]), multiple)
        longest = np.maximum.accumulate(lengths[start : start + most], dtype=np.int64)
        tokens = -(-longest // multiple) * multiple * np.arange(1, len(longest) + 1)
        # a pair that is too long for any batch makes one alone
        end = start + max(1, int(np.searchsorted(tokens, most_tokens, side="right")))
        batches.append(rows[start:end])
        start = end
    return batches


def _smallest(lengths: Counts) -> NDArray[np.unsignedinteger]:
    """The same numbers in the smallest type that holds them."""
    return lengths.astype(np.min_scalar_type(int(lengths.max(initial=0))))
