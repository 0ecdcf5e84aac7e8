"""The stream of micro-batches, from any place in the text on, prepared beside the computation."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from training.batching import Batch, TokenBatches, make_batch
from training.config import Recipe
from training.corpus import CorpusError, EncodedText, ParallelText, encode
from training.devices import Placement
from training.state import Place
from transformer.tokenizer import Tokenizer

Rows = NDArray[np.int64]  # numbers of the sentences of a batch
AHEAD = 4  # updates whose batches are made before they are asked for


@dataclass(frozen=True)
class Step:
    """What one update needs.

    Args:
        batches: the micro-batches of this process.
        tokens: real target tokens in those of all processes.
        place: where the run stands in the text behind them.
    """

    batches: list[Batch]
    tokens: int
    place: Place


class Feed:
    """Cuts the text into updates, epoch after epoch, the same way each time.

    Args:
        text: the training text.
        tokenizer: turns it into pieces, anew in each epoch where BPE-dropout asks for it.
        recipe: sizes and seed.
        placement: this process among those of the run.
    """

    def __init__(
        self, text: ParallelText, tokenizer: Tokenizer, recipe: Recipe, placement: Placement
    ) -> None:
        self.text, self.tokenizer, self.recipe = text, tokenizer, recipe
        self.placement = placement
        self.encoded = encode(text, tokenizer, recipe.max_pieces, progress=placement.leads)
        self.group = recipe.accumulate * placement.world
        batches = len(self._batches(self.encoded).epoch(0))
        if batches < self.group:
            raise CorpusError(
                f"The text makes {batches} batches, fewer than the {self.group} of one update: "
                f"lower batch_tokens or accumulate, or bring more text."
            )

    def steps(self, place: Place) -> Iterator[Step]:
        """What comes after a place in the text, without end."""
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="feed") as worker:
            waiting: list[Future[Step]] = []
            for job in self._jobs(place):
                waiting.append(worker.submit(self._prepare, *job))
                if len(waiting) > AHEAD:
                    yield waiting.pop(0).result()

    def _jobs(self, place: Place) -> Iterator[tuple[EncodedText, list[Rows], int, Place]]:
        epoch, done = place.epoch, place.batch
        while True:
            encoded = self._encode(epoch)
            batches = self._batches(encoded)
            rows = batches.epoch(epoch)
            # what is left at the end of an epoch and fills no update comes again in the next
            for end in range(done + self.group, len(rows) + 1, self.group):
                group = rows[end - self.group : end]
                tokens = sum(int(batches.target_lengths[some].sum()) for some in group)
                yield encoded, group, tokens, replace(place, epoch=epoch, batch=end)
            epoch, done = epoch + 1, 0

    def _prepare(self, encoded: EncodedText, group: list[Rows], tokens: int, place: Place) -> Step:
        mine = group[self.placement.rank :: self.placement.world]
        batches = [make_batch(encoded, rows, self.placement.length_multiple) for rows in mine]
        if self.placement.device.type == "cuda":
            batches = [batch.pin_memory() for batch in batches]
        return Step(batches, tokens, place)

    def _batches(self, encoded: EncodedText) -> TokenBatches:
        recipe, multiple = self.recipe, self.placement.length_multiple
        return TokenBatches(encoded, recipe.batch_tokens, recipe.seed, multiple)

    def _encode(self, epoch: int) -> EncodedText:
        if self.recipe.bpe_dropout == 0:
            return self.encoded
        seed = self.recipe.seed * 1_000_003 + epoch
        sampled = self.tokenizer.sampling(self.recipe.bpe_dropout, seed)
        return encode(self.text, sampled, self.recipe.max_pieces)
