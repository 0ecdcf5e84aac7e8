"""Several planted traces, each with words of its own and its hot cells elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.viz.planted_trace import EVIL, planted, words
from transformer import KINDS, AttentionTrace

ANIMALS = ("dogs", "Käfer", "horses", "cats", "birds")
LOG_P = (-3.0, -9.0, -1.5, -6.0, -4.5)
UNLIKE = (0.5, 0.6, 1.0, 0.7, 0.8)
"""How much of what tells the heads of a layer from their mean is left."""


def many(count: int = 5, *, evil: bool = False) -> list[AttentionTrace]:
    """Trace n has the heads of `planted`, the first of each layer now number n, and its words.

    By `UNLIKE` its heads differ more or less from each other.
    """
    return [_one(number, evil=evil) for number in range(count)]


def _one(number: int, *, evil: bool) -> AttentionTrace:
    trace = planted(evil=evil)
    texts = ("Two", EVIL if evil else "black", ANIMALS[number % 5], f"run{number}")
    for kind in KINDS:
        heads = np.roll(trace.weights(kind), number, axis=1)
        mean = heads.mean(axis=1, keepdims=True)
        trace.weights(kind)[:] = mean + UNLIKE[number % 5] * (heads - mean)
    log_probs = np.zeros(len(trace.target_pieces), np.float32)
    log_probs[0] = LOG_P[number % 5]
    return replace(trace, source=" ".join(texts), source_pieces=words(*texts), log_probs=log_probs)
