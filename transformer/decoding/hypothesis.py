"""Continuations, hypotheses and the tree of a search, and their scores (§6.1)."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from transformer import config, errors

NEVER_WRITTEN = (config.PAD, config.UNK, config.BOS)
BEAM_SIZE, ALPHA, MAX_EXTRA = 4, 0.6, 50
"""The paper's beam size, length penalty, and output length beyond the source's (§6.1)."""


@dataclass(frozen=True)
class Hypothesis:
    """One translation that a search found."""

    tokens: tuple[int, ...]  # ending with `</s>` unless the length limit or the caller cut it
    log_probs: tuple[float, ...]  # of each token, in nats
    score: float  # log P(y | x) divided by the length penalty

    @property
    def log_prob(self) -> float:
        """The natural logarithm of P(y | x), in nats."""
        return sum(self.log_probs)

    @property
    def complete(self) -> bool:
        """True if the hypothesis ends with `</s>`."""
        return bool(self.tokens) and self.tokens[-1] == config.EOS


def length_penalty(length: int, alpha: float = ALPHA) -> float:
    """Compute lp(Y) = ((5 + |Y|) / 6)^α (Wu et al. 2016, the paper's [38])."""
    return float(((5 + length) / 6) ** alpha)


def best_score(log_prob: float, length: int, limit: int, alpha: float) -> float:
    """Compute an upper bound of the score that a prefix of this log P can still reach.

    It is never too low: what follows can only lower log P ≤ 0, and the penalty is monotone in the
    length, so the bound is log P over the penalty of the next length (α < 0) or of the limit.
    """
    penalties = length_penalty(min(length + 1, limit), alpha), length_penalty(limit, alpha)
    # rounding in the sum of log P must not end a search too early
    return log_prob / max(penalties) * (1 - 1e-5)


Continuation: TypeAlias = tuple[int, int, float, float]
"""Row of the prefix that it continues, piece, log P of the piece, and log P of the whole."""

BLOCK = 128  # values of which the largest is found first: `topk` over all of them takes far longer


def rank(log_p: Tensor, totals: Tensor, count: int) -> list[list[Continuation]]:
    """Find the `count` most probable continuations of each sentence, best first.

    Those of log P = -∞ are left out. `log_p` is `[sentence, row, vocab]`, and `totals`, log P of
    each prefix, `[sentence, row]`.
    """
    every = (log_p + totals[..., None]).flatten(1)  # [sentence, row * vocab]
    values, indices = largest(every, min(count, every.size(1)))
    log_probs = log_p.flatten(1).gather(1, indices)
    best = values.tolist()
    # NaN comes first; after such a prefix a refused piece, of log P = -∞, would be NaN once more
    if any(math.isnan(total) for sentence in best for total in sentence[:1]):
        raise errors.NotFiniteError.for_model()
    return [
        [
            (*divmod(index, log_p.size(-1)), log_prob, total)
            for total, index, log_prob in zip(*sentence, strict=True)
            if total > -math.inf
        ]
        for sentence in zip(best, indices.tolist(), log_probs.tolist(), strict=True)
    ]


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


State = Literal["kept", "finished", "dropped", "unfinished"]
Reason = Literal["", "beam", "forbidden", "full", "bound", "limit", "stopped"]
"""Why a prefix was dropped or stands without its end.

`beam`: not among the K best of its step; `forbidden`: it completes a forbidden word, or leads to
one; `full`: the search had K hypotheses by then, or K better ones; `bound`: it could no longer
become one of the n best; `limit`: the length limit; `stopped`: the caller stopped the search.
"""


@dataclass(frozen=True)
class Node:
    """One prefix that the search ranked: that of its parent and one more piece."""

    parent: int | None  # index of the shorter prefix; none for the first piece of a translation
    piece: int  # its last token
    log_prob: float  # log P of that piece after its parent, in nats
    total: float  # log P of the prefix
    step: int  # pieces of the prefix
    # whether it was extended, ended with `</s>`, was dropped, or stands without its end
    state: State
    reason: Reason = ""  # why it was dropped or has no end; empty otherwise
    # log P of a hypothesis over the length penalty; None for a prefix that is none
    score: float | None = None


@dataclass(frozen=True)
class SearchTree:
    """The prefixes that one sentence's search ranked, parents before their children."""

    # the pieces of a forced prefix first, then at each step the refused continuations and the 2 K
    # best that are left, best first
    nodes: tuple[Node, ...]
    best: int  # index of the leaf that is the translation

    def path(self, index: int) -> tuple[int, ...]:
        """Return the indices of the nodes from the first piece to this node."""
        path: list[int] = []
        at: int | None = index
        while at is not None:
            path.append(at)
            at = self.nodes[at].parent
        return tuple(reversed(path))

    def prefix(self, index: int) -> tuple[int, ...]:
        """Return the tokens from the first piece to this node."""
        return tuple(self.nodes[at].piece for at in self.path(index))
