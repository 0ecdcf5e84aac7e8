"""The order in which one sentence needs its heads: by a gate's gradient, then by removing them."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.importance import gated_losses
from transformer.analysis.teacher_forcing import forced_pair
from transformer.model import Transformer
from transformer.trace import AttentionTrace

LENGTH, GREEDY, CANDIDATES = 24, 12, 16
"""Heads in an order; of them chosen by removal; and heads that are tried for each place."""


def removal_order(
    model: Transformer,
    trace: AttentionTrace,
    *,
    length: int = LENGTH,
    greedy: int = GREEDY,
    candidates: int = CANDIDATES,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[Head]:
    """Order `length` heads by how much log P of a translation falls when they are removed in turn.

    Each of the first `greedy` heads is the one of the `candidates` with the largest gradient
    |∂L/∂ξ_h| of its gate (Michel et al. 2019, §4.1) whose removal, with all heads before it
    removed, lowers log P most. The others follow by their gradients with these heads removed.
    `progress` is called with the number of places filled and of all.
    """
    pair = forced_pair(model, trace)
    heads = all_heads(model.config)
    order: list[Head] = []
    gates = np.ones(len(heads), dtype=np.float32)

    def by_gradient() -> list[int]:
        leaf = torch.tensor(gates[None], device=model.device, requires_grad=True)
        with torch.enable_grad():
            loss = gated_losses(model, leaf, pair.source, pair.target, pair.written[None])
            (gradient,) = torch.autograd.grad(loss.sum(), leaf)
        sizes = gradient[0].abs().cpu().numpy()
        return [int(n) for n in np.argsort(-sizes, kind="stable") if gates[n]]

    length = min(length, len(heads))
    while len(order) < min(greedy, length):
        tried = by_gradient()[:candidates]
        rows = np.repeat(gates[None], len(tried), axis=0)
        rows[np.arange(len(tried)), tried] = 0
        with torch.inference_mode():
            source, target, written = (
                part.expand(len(tried), -1)
                for part in (pair.source, pair.target, pair.written[None])
            )
            removals = torch.tensor(rows, device=model.device)
            losses = gated_losses(model, removals, source, target, written)
        best = tried[int(losses.argmax())]
        gates[best] = 0
        order.append(heads[best])
        progress(len(order), length)
    if len(order) < length:
        order += [heads[n] for n in by_gradient()[: length - len(order)]]
    progress(length, length)
    return order


def random_order(model: Transformer, order: Sequence[Head], seed: int) -> list[Head]:
    """Draw as many heads, each of the kind of the head in its place: the control of an order."""
    random = np.random.default_rng(seed)
    drawn: list[Head] = []
    for place in order:
        others = [h for h in all_heads(model.config) if h.kind == place.kind and h not in drawn]
        drawn.append(others[random.integers(len(others))])
    return drawn
