"""Hypotheses of a search, and the score by which they are ranked (§6.1)."""

from __future__ import annotations

from dataclasses import dataclass

from transformer.config import BOS, EOS, PAD, UNK

NEVER_WRITTEN = (PAD, UNK, BOS)
BEAM_SIZE, ALPHA, MAX_EXTRA = 4, 0.6, 50
"""The paper's beam size, length penalty, and output length beyond the source's (§6.1)."""


@dataclass(frozen=True)
class Hypothesis:
    """One translation that a search found.

    Args:
        tokens: token ids, ending with `</s>` unless the length limit or the caller cut it.
        log_probs: natural logarithm of the probability of each token.
        score: log P(y | x) divided by the length penalty.
    """

    tokens: tuple[int, ...]
    log_probs: tuple[float, ...]
    score: float

    @property
    def log_prob(self) -> float:
        """The natural logarithm of P(y | x), in nats."""
        return sum(self.log_probs)

    @property
    def complete(self) -> bool:
        """True if the hypothesis ends with `</s>`."""
        return bool(self.tokens) and self.tokens[-1] == EOS


def length_penalty(length: int, alpha: float = ALPHA) -> float:
    """Compute lp(Y) = ((5 + |Y|) / 6)^α (Wu et al. 2016, the paper's [38])."""
    return float(((5 + length) / 6) ** alpha)


def best_score(log_prob: float, length: int, limit: int, alpha: float) -> float:
    """Compute an upper bound of the score that a prefix can still reach, never too low.

    What follows can only lower log P ≤ 0, and the penalty is monotone in the length, so the bound
    is log P over the penalty of the next length (α < 0) or of the limit (α ≥ 0).

    Args:
        log_prob: log P of the prefix, in nats.
        length: pieces of the prefix.
        limit: the largest number of pieces of a hypothesis.
        alpha: α of the length penalty.
    """
    penalties = length_penalty(min(length + 1, limit), alpha), length_penalty(limit, alpha)
    # rounding in the sum of log P must not end a search too early
    return log_prob / max(penalties) * (1 - 1e-5)
