"""The stream of updates from any point of the text, prepared in background threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from training.batching import Batch, TokenBatches, cut, make_batch
from training.bpe_dropout import BpeDropout
from training.config import Recipe
from training.corpus import CorpusError
from training.data.sentences import Counts
from training.data.training_text import TrainingText
from training.devices import ProcessInfo
from training.micro_batches import empty_batch
from transformer.tokenizer import Tokenizer

PREFETCH = 4  # updates whose batches are prepared in advance


@dataclass(frozen=True)
class UpdateBatches:
    """The text of one update.

    Args:
        batches: the micro-batches of this process.
        tokens: target tokens of all processes, padding not counted.
        epoch: the epoch they belong to, from 0.
        batches_done: updates of that epoch that are done after this one.
    """

    batches: list[Batch]
    tokens: int
    epoch: int
    batches_done: int


class BatchStream:
    """Cuts the text into updates, epoch after epoch, reproducibly.

    An update is one batch of `TokenBatches`, whatever the number of processes and the size of
    their micro-batches: process r of W takes its rows r, r + W, r + 2 W and so on. So a run may go
    on with another number of processes in the same order of the text.

    Args:
        text: the training text.
        tokenizer: that of the text; there it is cut anew in each epoch where there is BPE-dropout.
        recipe: sizes and seed.
        process: this process among those of the run.

    Attributes:
        length_multiple: what lengths are padded to multiples of: that of the device, unless the run
            began on another one. The order of the text depends on it.

    Raises:
        CorpusError: if an epoch has fewer sentence pairs than processes.
        ConfigError: if there is BPE-dropout, and the vocabulary is not one of byte pairs.
    """

    def __init__(
        self, text: TrainingText, tokenizer: Tokenizer, recipe: Recipe, process: ProcessInfo
    ) -> None:
        self.text, self.recipe, self.process = text, recipe, process
        self.length_multiple = process.length_multiple
        self.dropout = BpeDropout(tokenizer, recipe.bpe_dropout) if recipe.bpe_dropout else None
        if not (pairs := len(text.rows(recipe.seed, 0))):
            raise CorpusError("The weights leave no sentence pair of the text: raise them.")
        if pairs < process.world_size:
            raise CorpusError(
                f"An epoch has {pairs:,} sentence pairs, fewer than the {process.world_size} "
                f"processes: start fewer processes, or bring more text."
            )

    def updates(self, epoch: int, batches_done: int) -> Iterator[UpdateBatches]:
        """The batches of update after update, without end.

        Args:
            epoch: the epoch to begin in, from 0.
            batches_done: updates of that epoch that are done already.
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
        """The batches of update after update; the next epoch is cut during this one."""
        next_epoch = encoder.submit(self._cut_epoch, epoch)
        while True:
            text, batches, updates = next_epoch.result()
            next_epoch = encoder.submit(self._cut_epoch, epoch + 1)
            for done in range(batches_done, len(updates)):
                yield self._prepare(text, batches, updates[done], epoch, done + 1)
            epoch, batches_done = epoch + 1, 0

    def _cut_epoch(self, epoch: int) -> tuple[TrainingText, TokenBatches, Sequence[Counts]]:
        """The text of an epoch, and the rows of each of its updates."""
        text, recipe = self.text, self.recipe
        if self.dropout is not None:
            seed = (recipe.seed, epoch)  # the same in every process
            text = self.dropout.sample_text(text, seed, recipe.max_pieces)
        batches = TokenBatches(text.encoded, recipe.batch_tokens, recipe.seed, self.length_multiple)
        return text, batches, batches.epoch(epoch, text.rows(recipe.seed, epoch))

    def _prepare(
        self, text: TrainingText, lengths: TokenBatches, rows: Counts, epoch: int, done: int
    ) -> UpdateBatches:
        multiple = self.length_multiple
        local = rows[self.process.rank :: self.process.world_size]
        longer = np.maximum(lengths.source_lengths[local], lengths.target_lengths[local])
        batches = [
            # no pair is longer, nor does the model accept more
            make_batch(text.encoded, some, multiple, self.recipe.max_pieces)
            for some in cut(local, longer, self.recipe.micro_batch_tokens, multiple)
        ] or [empty_batch(multiple)]
        if self.process.device.type == "cuda":
            batches = [batch.pin_memory() for batch in batches]
        return UpdateBatches(batches, int(lengths.target_lengths[rows].sum()), epoch, done)
