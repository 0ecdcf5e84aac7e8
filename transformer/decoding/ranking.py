"""The best continuations of all prefixes of a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Candidates:
    """Continuations of one sentence's prefixes, best first; those of log P = -∞ are left out.

    Args:
        rows: which prefix each continues.
        pieces: token ids.
        log_probs: log P of the piece after its prefix.
        totals: log P of the prefix with the piece.
    """

    rows: list[int]
    pieces: list[int]
    log_probs: list[float]
    totals: list[float]

    def ranked(self) -> Iterator[tuple[int, int, float, float]]:
        """(row, piece, log P of the piece, log P of the whole), best first."""
        return zip(self.rows, self.pieces, self.log_probs, self.totals, strict=True)


def rank(log_p: Tensor, totals: Tensor, count: int) -> list[Candidates]:
    """The `count` most probable continuations of each sentence.

    Args:
        log_p: `[sentence, row, vocab]`, log P of each piece.
        totals: `[sentence, row]`, log P of each prefix.
    """
    vocab = log_p.size(-1)
    every = (totals[..., None] + log_p).flatten(1)  # [sentence, row * vocab]
    best = every.topk(min(count, every.size(1)))
    chosen = log_p.flatten(1).gather(1, best.indices)
    rows = best.indices.div(vocab, rounding_mode="floor").tolist()
    pieces = (best.indices % vocab).tolist()
    found = zip(rows, pieces, chosen.tolist(), best.values.tolist(), strict=True)
    impossible = (best.values == -torch.inf).sum(1).tolist()
    return [
        Candidates(*(values[: len(values) - none] for values in one))
        for one, none in zip(found, impossible, strict=True)
    ]
