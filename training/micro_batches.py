"""How an update is divided: among the processes, and in each into what its memory holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from training.batching import Batch
from training.config import Recipe
from training.data.sentences import Counts
from transformer.config import BOS, EOS, PAD
from transformer.padding import round_up


@dataclass(frozen=True)
class Division:
    """How the updates of a run are divided.

    Args:
        processes: each of them takes every n-th row of an update.
        micro_batches: as many, one after the other, does each of them make of its rows.
        tokens: on each side of a micro-batch, padding included; about, since rows are whole.
    """

    processes: int
    micro_batches: int
    tokens: int

    @classmethod
    def of(cls, recipe: Recipe, processes: int) -> Division:
        """What follows from the recipe for this number of processes."""
        share = -(-recipe.batch_tokens // processes)
        count = -(-share // recipe.micro_batch_tokens)
        return cls(processes, count, min(share, recipe.micro_batch_tokens))

    def __str__(self) -> str:
        processes = "1 process" if self.processes == 1 else f"{self.processes} processes"
        micro_batches = f"{self.micro_batches} micro-batch" + "es" * (self.micro_batches > 1)
        return f"{processes} × {micro_batches} of about {self.tokens:,} tokens a side"


def cut(
    rows: Counts, lengths: NDArray[np.integer[Any]], most_tokens: int, multiple: int = 1
) -> list[Counts]:
    """Cut the rows of one process into as few micro-batches as their size allows.

    Args:
        rows: numbers of sentence pairs, in order.
        lengths: `[row]`, the longer side of each of them.
        most_tokens: of a micro-batch, padding included, unless a single row has more.
        multiple: of which padded lengths are multiples.

    Returns:
        Consecutive rows; together all of them.
    """
    micro_batches = []
    lengths, start = lengths.astype(np.int64), 0  # they may come in a type without a sign
    while start < len(rows):
        longest = np.maximum.accumulate(lengths[start:])
        padded = -(-longest // multiple) * multiple
        tokens = padded * np.arange(1, len(padded) + 1)  # it rises with each further row
        count = max(1, int(np.searchsorted(tokens, most_tokens, side="right")))
        micro_batches.append(rows[start : start + count])
        start += count
    return micro_batches


def empty_batch(multiple: int = 1) -> Batch:
    """One row that holds no text: its loss is 0, and so is each of its gradients.

    A process without a sentence pair computes it, since all of them take part in an update.
    """
    shape = (1, round_up(1, multiple))
    source, target, labels = (torch.full(shape, PAD) for _ in range(3))
    source[0, 0], target[0, 0] = EOS, BOS
    return Batch(source, target, labels)
