"""The order in which one sentence needs its heads, found by removing them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.importance import losses_without
from transformer.analysis.teacher_forcing import Progress, forced_pair, no_progress
from transformer.kinds import KINDS
from transformer.model import Transformer
from transformer.trace import AttentionTrace

LENGTH, GREEDY, CANDIDATES, ROUND = 24, 12, 16, 4
"""Heads in an order; of them removed one after another; heads that are tried for most places; and
places from one full round, in which every head is tried, to the next."""


@dataclass(frozen=True)
class RemovalOrder:
    """The heads that a sentence needs, as far as they are known; see `with_next_place`."""

    removed: tuple[Head, ...] = ()  # the first ones, in their order
    log_p: tuple[float, ...] = ()  # log P of the translation after each of them is removed
    others: tuple[Head, ...] = ()  # all others by the last full round, the most needed first

    @property
    def heads(self) -> tuple[Head, ...]:
        """All heads of the model: first those whose order is known, then the others."""
        return *self.removed, *self.others


def places(model: Transformer) -> int:
    """Return how many heads of the order are found one after another, by removing them."""
    return min(GREEDY, len(all_heads(model.config)))


def with_next_place(
    model: Transformer,
    trace: AttentionTrace,
    order: RemovalOrder,
    progress: Progress = no_progress,
) -> RemovalOrder:
    """Add the head whose removal, with all heads before it removed, lowers log P most.

    For the first of every `ROUND` places, each head that is left is tried; for the others, the
    `CANDIDATES` that lowered log P most in the last such round. Of equal heads, the first in
    `all_heads` is taken.
    """
    heads = all_heads(model.config)
    is_round = len(order.removed) % ROUND == 0
    left = heads if is_round else order.others[:CANDIDATES]
    tried = [head for head in heads if head in left and head not in order.removed]
    log_p = log_p_without(model, trace, [(*order.removed, head) for head in tried], progress)
    by_log_p = [tried[n] for n in np.argsort(log_p, kind="stable")]
    others = by_log_p if is_round else order.others
    return RemovalOrder(
        (*order.removed, by_log_p[0]),
        (*order.log_p, min(log_p)),
        tuple(head for head in others if head != by_log_p[0]),
    )


def log_p_without(
    model: Transformer,
    trace: AttentionTrace,
    removals: Sequence[Sequence[Head]],
    progress: Progress = no_progress,
) -> list[float]:
    """Compute log P of a translation without each of several sets of heads, in nats."""
    source, target, written = forced_pair(model, trace)
    log_p: list[float] = []
    for losses in losses_without(model, source, target, written[None], removals):
        log_p.append(-float(losses))
        progress(len(log_p), len(removals))
    return log_p


def removal_order(
    model: Transformer,
    trace: AttentionTrace,
    *,
    length: int = LENGTH,
    progress: Progress = no_progress,
) -> list[Head]:
    """Order `length` heads by how much log P of a translation falls when they are removed in turn.

    The first `GREEDY` are found by `with_next_place`, without a gradient: a head whose softmax is
    saturated has none. The others follow as in the last full round. `progress` is called with the
    number of places found, and of all that are found so.
    """
    order, count = RemovalOrder(), min(places(model), length)
    for place in range(count):
        order = with_next_place(model, trace, order)
        progress(place + 1, count)
    return list(order.heads[:length])


def random_order(model: Transformer, order: Sequence[Head], seed: int) -> list[Head]:
    """Draw as many other heads, each of the kind of the head in its place: the control of an order.

    Where a kind has too few others, heads of the order itself follow them.
    """
    random, heads = np.random.default_rng(seed), all_heads(model.config)
    drawn: dict[str, list[Head]] = {}
    for kind in KINDS:
        same = [heads[n] for n in random.permutation(len(heads)) if heads[n].kind == kind]
        drawn[kind] = sorted(same, key=lambda head: head in order)
    return [drawn[head.kind].pop(0) for head in order]
