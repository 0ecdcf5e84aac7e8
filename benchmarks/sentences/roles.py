"""What the page “What heads do” says of the sentence: roles there, and uniform attention."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from benchmarks.sentences.facts import KINDS, MAYBE, Facts, number
from benchmarks.sentences.heads import role_of
from benchmarks.sentences.translate import bar
from transformer.hooks import Hook
from transformer.kinds import KIND_TITLES, attention_name
from viz.pages.roles.corpus_map import ROLE_TEXTS
from viz.pages.roles.corpus_roles import SHOWN

_ROUNDING = 1e-5
_IMPORTANCE = {"gradient", "loss without", "BLEU without"}
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
            looks = ROLE_TEXTS[role]
            yield f"On the sentence in the bar it {looks[0].lower()}{looks[1:]} ({score})."
        yield from _nearest(facts, kind_name, layer, head)
        yield from _nearest_by_corpus(facts, kind_name, layer, head)

    return check


def _nearest(facts: Facts, kind_name: str, layer: int, head: int) -> Iterator[str]:
    """The heads of this kind that look most alike: half of what lies elsewhere in a row."""
    kind = KINDS[kind_name]
    counted = facts.trace.weights(kind)[:, :, kind == "decoder_self" :].astype(np.float64)
    apart = {
        f"L{at[0] + 1} H{at[1] + 1} · {kind_name}": float(
            np.mean([np.abs(a - b).sum() / 2 for a, b in zip(one, other, strict=True)])
        )
        for at in np.ndindex(counted.shape[:2])
        for one, other in ((counted[layer, head], counted[at]),)
        if at != (layer, head)
    }
    yield from _least(apart)


def _nearest_by_corpus(facts: Facts, kind_name: str, layer: int, head: int) -> Iterator[str]:
    """The heads whose stored measures differ least, each in standard deviations over all heads."""
    heads = json.loads((facts.translator.folder / "heads.json").read_text())["heads"]
    common = set.intersection(*(set(one["measures"]) for one in heads)) - _IMPORTANCE
    squares = dict.fromkeys(range(len(heads)), 0.0)
    open_head = [one["head"] for one in heads].index([KINDS[kind_name], layer, head])
    for name in common:
        values = [one["measures"][name][0] for one in heads]
        spread = statistics.pstdev(values)
        for n, value in enumerate(values):
            squares[n] += ((value - values[open_head]) / spread) ** 2 / len(common)
    del squares[open_head]
    names = {kind: name for name, kind in KINDS.items()}
    apart = {}
    for n, square in squares.items():
        kind, of_layer, number_of = heads[n]["head"]
        apart[f"L{of_layer + 1} H{number_of + 1} · {names[kind]}"] = math.sqrt(square)
    yield from _least(apart)


def _least(apart: dict[str, float]) -> Iterator[str]:
    """The heads that are named; one as far as the last of them may be."""
    last = sorted(apart.values())[SHOWN - 1]
    for name, distance in apart.items():
        if distance < last + _ROUNDING:
            yield f"{MAYBE if distance > last - _ROUNDING else ''}{name} {distance:.2f}"


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
