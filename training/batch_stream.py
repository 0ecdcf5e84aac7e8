"""The stream of micro-batches from any point of the text, prepared in a background thread."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.batching import Batch, TokenBatches, make_batch
from training.config import Recipe
from training.corpus import CorpusError, EncodedText, ParallelText, encode
from training.devices import ProcessInfo
from transformer.tokenizer import Tokenizer

Rows = NDArray[np.int64]  # numbers of the sentences of a batch
PREFETCH = 4  # updates whose batches are prepared in advance


@dataclass(frozen=True)
class UpdateBatches:
    """The micro-batches of one update.

    Args:
        batches: those of this process.
        tokens: target tokens in those of all processes, padding not counted.
        epoch: the epoch they belong to, from 0.
        batches_done: micro-batches of that epoch that are done after this update.
    """

    batches: list[Batch]
    tokens: int
    epoch: int
    batches_done: int


class BatchStream:
    """Cuts the text into the batches of each update, epoch after epoch, reproducibly.

    Args:
        text: the training text.
        tokenizer: turns it into pieces, anew in each epoch where there is BPE-dropout.
        recipe: sizes and seed.
        process: this process among those of the run.
    """

    def __init__(
        self, text: ParallelText, tokenizer: Tokenizer, recipe: Recipe, process: ProcessInfo
    ) -> None:
        self.text, self.tokenizer, self.recipe = text, tokenizer, recipe
        self.process = process
        self.encoded = encode(text, tokenizer, recipe.max_pieces, progress=process.is_main_process)
        self.batches_per_update = recipe.accumulate * process.world_size
        batches = len(self._batches(self.encoded).epoch(0))
        if batches < self.batches_per_update:
            raise CorpusError(
                f"The text makes {batches} batches, but one update takes "
                f"{self.batches_per_update}: lower batch_tokens or accumulate, or bring more text."
            )

    def updates(self, epoch: int, batches_done: int) -> Iterator[UpdateBatches]:
        """The batches of update after update, without end.

        Args:
            epoch: the epoch to begin in, from 0.
            batches_done: micro-batches of that epoch that are done already.
        """
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches") as worker:
            pending: list[Future[UpdateBatches]] = []
            for job in self._jobs(epoch, batches_done):
                pending.append(worker.submit(self._prepare, *job))
                if len(pending) > PREFETCH:
                    yield pending.pop(0).result()

    def _jobs(
        self, epoch: int, batches_done: int
    ) -> Iterator[tuple[EncodedText, list[Rows], int, int, int]]:
        """The arguments of `_prepare` for update after update."""
        count = self.batches_per_update
        while True:
            encoded = self._encode(epoch)
            batches = self._batches(encoded)
            rows = batches.epoch(epoch)
            # the last batches of an epoch that make no whole update are dropped
            for end in range(batches_done + count, len(rows) + 1, count):
                chosen = rows[end - count : end]
                tokens = sum(int(batches.target_lengths[of_batch].sum()) for of_batch in chosen)
                yield encoded, chosen, tokens, epoch, end
            epoch, batches_done = epoch + 1, 0

    def _prepare(
        self, encoded: EncodedText, chosen: list[Rows], tokens: int, epoch: int, batches_done: int
    ) -> UpdateBatches:
        local = chosen[self.process.rank :: self.process.world_size]
        batches = [make_batch(encoded, rows, self.process.length_multiple) for rows in local]
        if self.process.device.type == "cuda":
            batches = [batch.pin_memory() for batch in batches]
        return UpdateBatches(batches, tokens, epoch, batches_done)

    def _batches(self, encoded: EncodedText) -> TokenBatches:
        recipe, multiple = self.recipe, self.process.length_multiple
        return TokenBatches(encoded, recipe.batch_tokens, recipe.seed, multiple)

    def _encode(self, epoch: int) -> EncodedText:
        if self.recipe.bpe_dropout == 0:
            return self.encoded
        seed = self.recipe.seed * 1_000_003 + epoch
        sampled = self.tokenizer.sampling(self.recipe.bpe_dropout, seed)
        return encode(self.text, sampled, self.recipe.max_pieces)
