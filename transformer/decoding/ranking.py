"""The best continuations of all prefixes of a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.decoding.hypothesis import NEVER_WRITTEN
from transformer.errors import NotFiniteError

BLOCK = 128
"""Values of which the largest is found first: `topk` over all of them takes far longer."""


@dataclass(frozen=True)
class Candidates:
    """Continuations of one sentence's prefixes, best first; those of log P = -∞ are left out.

    Args:
        rows: the row of the prefix that each continues.
        pieces: token ids.
        log_probs: log P of the piece after its prefix.
        totals: log P of the prefix with the piece.
    """

    rows: list[int]
    pieces: list[int]
    log_probs: list[float]
    totals: list[float]

    def ranked(self) -> Iterator[tuple[int, int, float, float]]:
        """Yield (row, piece, log P of the piece, log P of the whole), best first."""
        return zip(self.rows, self.pieces, self.log_probs, self.totals, strict=True)


def rank(log_p: Tensor, totals: Tensor, count: int) -> list[Candidates]:
    """Find the `count` most probable continuations of each sentence.

    Args:
        log_p: `[sentence, row, vocab]`, log P of each piece; -∞ if it must not follow.
        totals: `[sentence, row]`, log P of each prefix.
        count: the number of continuations of a sentence.

    Raises:
        NotFiniteError: if one of them is NaN.
    """
    every = (log_p + totals[..., None]).flatten(1)  # [sentence, row * vocab]
    values, indices = largest(every, min(count, every.size(1)))
    log_probs = log_p.flatten(1).gather(1, indices)
    sentences = zip(values.tolist(), indices.tolist(), log_probs.tolist(), strict=True)
    return [_possible(*sentence, log_p.size(-1)) for sentence in sentences]


def _possible(
    totals: list[float], indices: list[int], log_probs: list[float], vocab: int
) -> Candidates:
    """Select the candidates of a sentence that can follow; the others, of log P = -∞, come last."""
    # NaN comes first; after such a prefix a refused piece, of log P = -∞, would be NaN once more
    if totals and math.isnan(totals[0]):
        raise NotFiniteError.for_model()
    number = len(totals) - totals.count(-math.inf)
    places = [divmod(index, vocab) for index in indices[:number]]
    return Candidates(
        [row for row, _ in places],
        [piece for _, piece in places],
        log_probs[:number],
        totals[:number],
    )


def largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Find `values.topk(count)` of `[row, column]` in the blocks with the largest maxima."""
    whole = values.size(1) // BLOCK * BLOCK
    if whole // BLOCK <= count:
        return values.topk(count)
    blocks = values[:, :whole].unflatten(1, (-1, BLOCK))  # [row, block, column]
    best = blocks.amax(-1).topk(count).indices  # [row, count]
    block_columns = best[..., None] * BLOCK + torch.arange(BLOCK, device=values.device)
    columns = block_columns.flatten(1)
    if whole < values.size(1):
        rest = torch.arange(whole, values.size(1), device=values.device).expand(len(values), -1)
        columns = torch.cat((columns, rest), dim=1)
    top = values.gather(1, columns).topk(count)
    return top.values, columns.gather(1, top.indices)


def forbid(log_p: Tensor) -> Tensor:
    """Set the pieces that are never written to -∞, in place; the others' probabilities stay."""
    for piece in NEVER_WRITTEN:
        log_p[..., piece] = -torch.inf
    return log_p
