"""What the view “Why this word” of the page “What heads do” says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.sentences.facts import KINDS, MAYBE, Expected, Facts, Floats
from benchmarks.sentences.logits import (
    direct,
    least_certain_step,
    others_by_probability,
    output_matrix,
    slopes,
)
from benchmarks.sentences.taken_away import signed
from benchmarks.sentences.translate import bar
from viz.draw.labels import display_tokens

_OFFERED, _NAMED, _MOST_ROWS, _ROUNDING = 6, 5, 40, 1e-5


def why(
    kind_name: str, layer: int, head: int, step: int | None = None, *, by_logits: bool = False
) -> Callable[[Facts], Iterator[Expected]]:
    """Against the most probable other piece, with one head open; layer, head and step from 0.

    Args:
        step: the least certain one unless given.
        by_logits: whether the heads are ordered by direct logits.
    """

    def check(facts: Facts) -> Iterator[Expected]:
        yield from bar(facts)
        asked = len(facts.target) if step is None else step
        at = asked if asked < len(facts.target) else least_certain_step(facts)
        if step is not None and asked != at:
            yield (
                f"The translation has {len(facts.target)} pieces and no piece {step + 1}: this is "
                f"piece {at + 1}."
            )
        others = others_by_probability(facts, at)
        other, log_p = others[0], facts.log_p(facts.target)[at]
        one, another = (_name(facts, piece) for piece in (facts.target[at], other))
        for piece in others[:_OFFERED]:
            yield f"{_name(facts, piece)} {probability(log_p[piece])}"
        odds = log_p[facts.target[at]] - log_p[other]
        yield f"Why “{one}” and not “{another}”?"
        yield (
            f"P is {probability(log_p[facts.target[at]])} for “{one}” and "
            f"{probability(log_p[other])} for “{another}”: log-odds {signed(odds)} nats, for "
            f"“{one if odds >= 0 else another}”."
        )
        slope = slopes(facts, at, other)
        by_gradient = {n: slope[kind] for n, kind in KINDS.items()}
        matrix = output_matrix(facts)
        along = direct(facts, at, matrix[facts.target[at]] - matrix[other])
        by_logit = {n: along[kind] for n, kind in KINDS.items() if kind in along}
        yield from _heads(by_logit if by_logits else by_gradient, one, another)
        yield f"L{layer + 1} H{head + 1} · {kind_name}"
        about = f"{signed(by_gradient[kind_name][layer, head])} nats by gradient × value"
        if kind_name in by_logit:
            about += f", {signed(by_logit[kind_name][layer, head])} by direct logits"
        yield f"{about}: above 0 it speaks for “{one}”, below for “{another}”."
        yield f"…Above 0 a piece speaks for “{one}”, below for “{another}”.…"
        if (count := len(facts.source)) > _MOST_ROWS:
            yield (
                f"These are the {_MOST_ROWS} largest of {count} pieces, in the order of the text."
            )

    return check


def probability(log_p: float) -> str:
    """As the screen has it."""
    p = math.exp(log_p)
    return "< 0.01" if 0 < p < 0.005 else f"{p:.2f}"


def _name(facts: Facts, piece: int) -> str:
    (found,) = facts.translator.tokenizer.pieces_of([piece])
    return display_tokens([found.text, "▁"])[0]


def _heads(values: dict[str, Floats], one: str, another: str) -> Iterator[str]:
    """The sums, the colour, and the heads that speak most for either."""
    for kind_name, of in values.items():
        yield f"{kind_name} {signed(of.sum())}"
    most = max(float(np.abs(of).max()) for of in values.values())
    yield (
        f"Purple speaks for “{one}”, olive for “{another}”; the full colour is {most:.2f} nats. "
        "Beside each kind stands the sum of its heads."
    )
    every = [
        (float(of[at]), f"L{at[0] + 1} H{at[1] + 1} · {kind_name}")
        for kind_name, of in values.items()
        for at in np.ndindex(of.shape)
    ]
    for name, sign in ((one, 1), (another, -1)):
        side = sorted((value for value, _ in every if sign * value > 0), key=lambda v: -sign * v)
        yield f"For “{name}”" if side else f"No head speaks for “{name}”."
        if not side:
            continue
        last = abs(side[min(_NAMED, len(side)) - 1])
        for value, head in every:
            if sign * value > 0 and abs(value) > last - _ROUNDING:
                maybe = MAYBE if abs(value) < last + _ROUNDING and len(side) > _NAMED else ""
                yield f"{maybe}{head} {signed(value)}"
