"""Batches of about the same number of tokens, of sentences of about the same length (§5.1)."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.config import Recipe
from training.data.corpus import CorpusError
from training.data.encoded_text import EncodedText, Sentences, TrainingText, spans
from training.devices import ProcessInfo
from transformer.arrays import Ints
from transformer.config import BOS, EOS, PAD


def round_up(length: int, multiple: int) -> int:
    """Return the smallest multiple that is not below the length."""
    return -(-length // multiple) * multiple


@dataclass(frozen=True)
class Batch:
    """Sentence pairs as tensors, padded on the right."""

    source: Tensor  # `[batch, source]`, ending with `</s>`
    target: Tensor  # `[batch, target]`, beginning with `<s>`: what the decoder reads (§3.1)
    labels: Tensor  # `[batch, target]`, ending with `</s>`: what the decoder is to predict

    def to(self, device: torch.device) -> "Batch":
        """Copy the batch to another device."""
        return Batch(
            *(t.to(device, non_blocking=True) for t in (self.source, self.target, self.labels))
        )

    def pin_memory(self) -> "Batch":
        """Copy the batch to pinned memory, from which a GPU copies asynchronously."""
        return Batch(*(t.pin_memory() for t in (self.source, self.target, self.labels)))

    def tokens(self) -> int:
        """Count the target tokens, `</s>` included, padding not."""
        return int((self.labels != PAD).sum())


def make_batch(
    text: EncodedText, rows: Sequence[int] | Ints, multiple: int = 1, most: int | None = None
) -> Batch:
    """Make a batch of these pairs, `[batch]`, padded to multiples of a length, at most `most`."""
    numbers = np.asarray(rows, dtype=np.int64)
    source, target = text.source.take(numbers), text.target.take(numbers)
    return Batch(
        _padded(source, multiple, most),
        _padded(target, multiple, most, begins=True),
        _padded(target, multiple, most),
    )


def _padded(
    sentences: Sentences, multiple: int, most: int | None, *, begins: bool = False
) -> Tensor:
    """Pad to `[sentence, position]`, with `<s>` before the ids or `</s>` behind them."""
    lengths, rows = sentences.lengths(), np.arange(len(sentences))
    longest = int(lengths.max()) + 1
    width = round_up(longest, multiple)
    if most is not None and width > most:
        width = max(longest, most)
    padded = np.full((len(lengths), width), PAD, dtype=np.int64)
    padded.ravel()[spans(rows * width + begins, lengths)] = sentences.stored
    if begins:
        padded[:, 0] = BOS
    else:
        padded[rows, lengths] = EOS
    return torch.from_numpy(padded)


class TokenBatches:
    """Batches of pairs of similar length, anew for each epoch, of `batch_tokens` a side at most."""

    def __init__(self, text: EncodedText, batch_tokens: int, seed: int, multiple: int = 1) -> None:
        self.batch_tokens = batch_tokens
        self.seed, self.multiple = seed, multiple
        self.source_lengths = _smallest(text.source.lengths() + 1)
        self.target_lengths = _smallest(text.target.lengths() + 1)

    def epoch(self, number: int, rows: Ints | None = None) -> list[Ints]:
        """Return the row numbers of each batch of an epoch; equal numbers give equal batches."""
        random = np.random.default_rng((self.seed, number))
        if rows is None:
            shuffled = random.permutation(len(self.source_lengths))
        else:
            shuffled = rows[random.permutation(len(rows))]
        # stable: rows of equal lengths stay in random order; linear in time, of small numbers
        for lengths in (self.source_lengths, self.target_lengths):
            shuffled = shuffled[np.argsort(lengths[shuffled], kind="stable")]
        longer = np.maximum(self.source_lengths[shuffled], self.target_lengths[shuffled])
        batches = cut(shuffled, longer, self.batch_tokens, self.multiple)
        return [batches[i] for i in random.permutation(len(batches))]


def cut(
    rows: Ints, lengths: NDArray[np.integer[Any]], most_tokens: int, multiple: int = 1
) -> list[Ints]:
    """Cut rows into few batches of up to `most_tokens`, padding included; a longer row is alone."""
    batches: list[Ints] = []
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


def _smallest(lengths: Ints) -> NDArray[np.unsignedinteger]:
    return lengths.astype(np.min_scalar_type(int(lengths.max(initial=0))))


def division(recipe: Recipe, processes: int) -> str:
    """Describe how an update is divided: each process takes every n-th row, in micro-batches."""
    share = -(-recipe.batch_tokens // processes)
    count = -(-share // recipe.micro_batch_tokens)
    tokens = min(share, recipe.micro_batch_tokens)
    return (
        f"{processes} process{'es' * (processes > 1)} × {count} micro-batch{'es' * (count > 1)} of "
        f"about {tokens:,} tokens a side"
    )


def empty_batch(multiple: int = 1) -> Batch:
    """Make a batch without text, for a process that has no pair: its loss and gradients are 0."""
    shape = (1, round_up(1, multiple))
    source, target, labels = (torch.full(shape, PAD) for _ in range(3))
    source[0, 0], target[0, 0] = EOS, BOS
    return Batch(source, target, labels)


PREFETCH = 4  # updates whose batches are prepared in advance


@dataclass(frozen=True)
class UpdateBatches:
    """Micro-batches of this process in one update; the target tokens are those of all processes."""

    batches: list[Batch]
    tokens: int
    epoch: int
    batches_done: int


class BatchStream:
    """Cuts the text into updates, epoch after epoch, reproducibly.

    An update is one batch of `TokenBatches`, whatever the number of processes and the size of their
    micro-batches: process r of W takes its rows r, r + W, r + 2 W and so on. So a run may go on
    with another number of processes in the same order of the text, if `length_multiple` stays as it
    was on the device on which it began.
    """

    def __init__(self, text: TrainingText, recipe: Recipe, process: ProcessInfo) -> None:
        self.text, self.recipe, self.process = text, recipe, process
        self.length_multiple = process.length_multiple
        if not (pairs := len(text.rows(recipe.seed, 0))):
            raise CorpusError("The weights leave no sentence pair of the text: raise them.")
        if pairs < process.world_size:
            raise CorpusError(
                f"An epoch has {pairs:,} sentence pairs, fewer than the {process.world_size} "
                f"processes: start fewer processes, or bring more text."
            )

    def updates(self, epoch: int, batches_done: int) -> Iterator[UpdateBatches]:
        """Yield the batches of update after update from a place in the text on, without end."""
        planner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="epochs")
        worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")
        prepared = self._prepared(epoch, batches_done, planner)
        try:
            pending = deque(worker.submit(next, prepared) for _ in range(PREFETCH))
            while True:
                pending.append(worker.submit(next, prepared))
                yield pending.popleft().result()
        finally:  # a run that is asked to stop does not wait for what it will not need
            for pool in (worker, planner):
                pool.shutdown(wait=False, cancel_futures=True)

    def _prepared(
        self, epoch: int, batches_done: int, planner: ThreadPoolExecutor
    ) -> Iterator[UpdateBatches]:
        """Yield the batches of update after update; the next epoch is cut during this one."""
        recipe = self.recipe
        batches = TokenBatches(
            self.text.encoded, recipe.batch_tokens, recipe.seed, self.length_multiple
        )

        def updates_of(number: int) -> Sequence[Ints]:
            return batches.epoch(number, self.text.rows(recipe.seed, number))

        next_epoch = planner.submit(updates_of, epoch)
        while True:
            updates = next_epoch.result()
            next_epoch = planner.submit(updates_of, epoch + 1)
            for done in range(batches_done, len(updates)):
                yield self._prepare(batches, updates[done], epoch, done + 1)
            epoch, batches_done = epoch + 1, 0

    def _prepare(self, lengths: TokenBatches, rows: Ints, epoch: int, done: int) -> UpdateBatches:
        multiple = self.length_multiple
        local = rows[self.process.rank :: self.process.world_size]
        longer = np.maximum(lengths.source_lengths[local], lengths.target_lengths[local])
        batches = [
            # no pair is longer, nor does the model accept more
            make_batch(self.text.encoded, some, multiple, self.recipe.max_pieces)
            for some in cut(local, longer, self.recipe.micro_batch_tokens, multiple)
        ] or [empty_batch(multiple)]
        if self.process.device.type == "cuda":
            batches = [batch.pin_memory() for batch in batches]
        return UpdateBatches(batches, int(lengths.target_lengths[rows].sum()), epoch, done)
