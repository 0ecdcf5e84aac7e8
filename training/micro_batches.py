"""How an update is divided: among the processes, and in each into what its memory holds."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from training.batching import Batch
from training.config import Recipe
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


def empty_batch(multiple: int = 1) -> Batch:
    """One row that holds no text: its loss is 0, and so is each of its gradients.

    A process without a sentence pair computes it, since all of them take part in an update.
    """
    shape = (1, round_up(1, multiple))
    source, target, labels = (torch.full(shape, PAD) for _ in range(3))
    source[0, 0], target[0, 0] = EOS, BOS
    return Batch(source, target, labels)
