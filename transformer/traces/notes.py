"""What people should know of weights that were given to us, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transformer.kinds import KIND_TITLES, Kind
from transformer.traces.fields import Weights

TOLERANCE = 5e-3
"""How far a row's sum may be from 1: bfloat16 rounds each weight by up to 1 in 256."""


def notes_on(layers: Mapping[Kind, Sequence[Weights]]) -> tuple[str, ...]:
    """A sentence for each kind whose rows do not sum to 1, that has values below 0, or whose
    decoder looks ahead; layers and heads count from 1.

    Args:
        layers: of each kind, `[head, query, key]` each.
    """
    found = []
    for kind, of_kind in layers.items():
        title = KIND_TITLES[kind]
        found += _sums(of_kind, title) + _negatives(of_kind, title)
        if kind == "decoder_self":
            found += _ahead(of_kind)
    return tuple(found)


def _sums(layers: Sequence[Weights], title: str) -> list[str]:
    with np.errstate(over="ignore"):
        sums = [layer.sum(-1) for layer in layers]  # [head, query] each
    heads = _heads([np.abs(of - 1).max(-1) for of in sums], TOLERANCE)
    if not heads.number:
        return []
    rows = np.concatenate([of.ravel() for of in sums])
    rows = rows[np.abs(rows - 1) > TOLERANCE]
    low, high = _number(rows.min()), _number(rows.max())
    span = low if low == high else f"{low} to {high}"
    if heads.number == 1:
        return [f"As given, rows of {title} {heads.farthest} do not sum to 1: {span}."]
    return [
        f"As given, rows of {title} do not sum to 1 in {heads.number:,} heads, {heads.farthest} "
        f"the most: {span}."
    ]


def _negatives(layers: Sequence[Weights], title: str) -> list[str]:
    heads = _heads([-layer.min((-1, -2)) for layer in layers], 0)
    if not heads.number:
        return []
    least = _number(-heads.value)
    if heads.number == 1:
        return [f"Values of {title} {heads.farthest} are negative, down to {least}."]
    return [
        f"Values of {title} are negative in {heads.number:,} heads, down to {least} in "
        f"{heads.farthest}."
    ]


def _ahead(layers: Sequence[Weights]) -> list[str]:
    heads = _heads([np.abs(np.triu(layer, 1)).sum(-1).max(-1) for layer in layers], 0)
    if not heads.number:
        return []
    return [
        f"The decoder looks ahead: up to {_number(heads.value)} of a row of {heads.farthest} lies "
        f"on later positions."
    ]


class _Heads(NamedTuple):
    """How many heads have a value above a bound, which has the largest, and what that is."""

    number: int
    farthest: str = ""
    value: float = 0.0


def _heads(values: Sequence[npt.NDArray[np.floating]], above: float) -> _Heads:
    """Of `[head]` for each layer."""
    found = [
        (float(of[head]), f"L{layer} H{head + 1}")
        for layer, of in enumerate(values, start=1)
        for head in np.flatnonzero(of > above)
    ]
    if not found:
        return _Heads(0)
    value, farthest = max(found, key=lambda one: one[0])
    return _Heads(len(found), farthest, value)


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
