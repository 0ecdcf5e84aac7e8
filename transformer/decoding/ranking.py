"""The best continuations of all prefixes of a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.decoding.hypothesis import NEVER_WRITTEN

BLOCK = 128
"""Values of which the largest is found first: `topk` over all of them takes far longer."""


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


def rank(logits: Tensor, log_Z: Tensor, totals: Tensor, count: int) -> list[Candidates]:
    """The `count` most probable continuations of each sentence.

    Args:
        logits: `[sentence, row, vocab]`; -∞ for a piece that must not follow.
        log_Z: `[sentence, row]`, the logarithm of the softmax's denominator.
        totals: `[sentence, row]`, log P of each prefix.
    """
    vocab = logits.size(-1)
    every = (logits + (totals - log_Z)[..., None]).flatten(1)  # [sentence, row * vocab]
    values, indices = largest(every, min(count, every.size(1)))
    rows = indices.div(vocab, rounding_mode="floor")
    log_probs = logits.flatten(1).gather(1, indices) - log_Z.gather(1, rows)
    lists = (each.tolist() for each in (rows, indices % vocab, log_probs, values))
    found = zip(*lists, strict=True)
    possible = (values > -torch.inf).logical_or_(values.isnan()).sum(1).tolist()
    return [
        Candidates(*(of_sentence[:number] for of_sentence in one))
        for one, number in zip(found, possible, strict=True)
    ]


def largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`values.topk(count)` of `[row, column]`: they lie in the blocks with the largest maxima."""
    whole = values.size(1) // BLOCK * BLOCK
    if whole // BLOCK <= count:
        return values.topk(count)
    blocks = values[:, :whole].unflatten(1, (-1, BLOCK))  # [row, block, column]
    best = blocks.amax(-1).topk(count).indices  # [row, count]
    of_blocks = best[..., None] * BLOCK + torch.arange(BLOCK, device=values.device)
    rest = torch.arange(whole, values.size(1), device=values.device).expand(len(values), -1)
    columns = torch.cat((of_blocks.flatten(1), rest), dim=1)
    found = values.gather(1, columns).topk(count)
    return found.values, columns.gather(1, found.indices)


def forbid(logits: Tensor) -> Tensor:
    """Set the pieces that are never written to -∞, in place; their probability stays in log Z."""
    for piece in NEVER_WRITTEN:
        logits[..., piece] = -torch.inf
    return logits
