"""What the page “What heads do” says of the sentence: roles there, and uniform attention."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from benchmarks.sentences.facts import KINDS, Facts, number
from benchmarks.sentences.heads import role_of
from benchmarks.sentences.translate import bar
from transformer.hooks import Hook
from transformer.kinds import attention_name
from viz.draw.labels import KIND_TITLES
from viz.pages.roles.measured_text import LOOKS

_LEAST = {"same word": 0.25, "aligns": 0.5, "spread": 0.9}
"""From which a role is given; from 0.4 where none is named."""


def measured(kind_name: str, layer: int, head: int) -> Callable[[Facts], Iterator[str]]:
    """The card of one head; layer and head count from 0."""
    kind = KINDS[kind_name]

    def check(facts: Facts) -> Iterator[str]:
        yield from bar(facts)
        weights = facts.trace.weights(kind)[layer, head].astype(np.float64)
        role, strength = role_of(weights, kind, facts.trace.labels(kind).keys, facts)
        of = "of the largest possible entropy" if role == "spread" else "beyond chance"
        score = f"{100 * strength * _LEAST.get(role, 0.4):.0f}\u00a0% {of}"
        if strength < 1:
            yield f"On the sentence in the bar nothing dominates: nearest is “{role}”, {score}."
        else:
            looks = LOOKS[role]
            yield f"On the sentence in the bar it {looks[0].lower()}{looks[1:]} ({score})."

    return check


def uniform(kind_name: str) -> Callable[[Facts], Iterator[str]]:
    """Uniform weights in all heads of a kind."""
    kind = KINDS[kind_name]

    def even(weights: Tensor, _name: str) -> Tensor:
        rows = torch.ones_like(weights)
        if kind == "decoder_self":
            rows = rows.tril()
        return rows / rows.sum(-1, keepdim=True)

    def check(facts: Facts) -> Iterator[str]:
        yield from bar(facts)
        edits: dict[str, Hook] = {
            f"{attention_name(kind, layer)}.hook_pattern": even for layer in range(facts.config.N)
        }
        change = facts.score(facts.target, edits) - facts.score(facts.target)
        every, each = (
            number(value) if value < 0 else f"+{number(value)}"
            for value in (change, change / len(facts.target))
        )
        yield (
            f"With uniform attention in all heads of {KIND_TITLES[kind]}, all layers, log P of "
            f"the translation in the bar changes by {every}, {each} a piece."
        )

    return check
