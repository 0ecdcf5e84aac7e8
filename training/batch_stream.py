"""The stream of micro-batches from any point of the text, prepared in background threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.batching import Batch, TokenBatches, make_batch
from training.bpe_dropout import BpeDropout
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

    Raises:
        CorpusError: if the text is too small for one update.
        ConfigError: if there is BPE-dropout, and the vocabulary is not one of byte pairs.
    """

    def __init__(
        self, text: ParallelText, tokenizer: Tokenizer, recipe: Recipe, process: ProcessInfo
    ) -> None:
        self.recipe, self.process = recipe, process
        self.dropout = BpeDropout(tokenizer, recipe.bpe_dropout) if recipe.bpe_dropout else None
        self.encoded = encode(text, tokenizer, recipe.max_pieces, progress=process.is_main_process)
        self.batches_per_update = recipe.accumulate * process.world_size
        self._rows(self._batches(self.encoded), 0)

    def updates(self, epoch: int, batches_done: int) -> Iterator[UpdateBatches]:
        """The batches of update after update, without end.

        Args:
            epoch: the epoch to begin in, from 0.
            batches_done: micro-batches of that epoch that are done already.
        """
        encoder = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pieces")
        worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")
        prepared = self._prepared(epoch, batches_done, encoder)
        try:
            pending = deque(worker.submit(next, prepared) for _ in range(PREFETCH))
            while True:
                pending.append(worker.submit(next, prepared))
                yield pending.popleft().result()
        finally:  # a run that is asked to stop does not wait for what it will not need
            for pool in (worker, encoder):
                pool.shutdown(wait=False, cancel_futures=True)

    def _prepared(
        self, epoch: int, batches_done: int, encoder: ThreadPoolExecutor
    ) -> Iterator[UpdateBatches]:
        """The batches of update after update; the next epoch is encoded during this one."""
        count = self.batches_per_update
        next_epoch = encoder.submit(self._encode, epoch)
        while True:
            encoded = next_epoch.result()
            next_epoch = encoder.submit(self._encode, epoch + 1)
            batches = self._batches(encoded)
            rows = self._rows(batches, epoch)
            # the last batches of an epoch that make no whole update are dropped
            for end in range(batches_done + count, len(rows) + 1, count):
                chosen = rows[end - count : end]
                tokens = sum(int(batches.target_lengths[of_batch].sum()) for of_batch in chosen)
                yield self._prepare(encoded, chosen, tokens, epoch, end)
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

    def _rows(self, batches: TokenBatches, epoch: int) -> list[Rows]:
        rows = batches.epoch(epoch)
        if len(rows) < self.batches_per_update:
            raise CorpusError(
                f"The text makes {len(rows)} batches, but one update takes "
                f"{self.batches_per_update}: lower batch_tokens or accumulate, or bring more text."
            )
        return rows

    def _encode(self, epoch: int) -> EncodedText:
        if self.dropout is None:
            return self.encoded
        seed = (self.recipe.seed, epoch)  # the same in every process
        return self.dropout.sample_text(self.encoded, seed, self.recipe.max_pieces)
