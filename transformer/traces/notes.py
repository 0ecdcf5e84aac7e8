"""Notes on weights that came from another model, in plain sentences."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transformer.kinds import KIND_TITLES, Kind
from transformer.traces.fields import Weights

TOLERANCE = 5e-3
"""Largest distance of a row's sum from 1: bfloat16 rounds each weight by up to 1 in 256."""


def notes_on(layers: Mapping[Kind, Sequence[Weights]]) -> tuple[str, ...]:
    """Write a sentence on each kind whose weights, `[head, query, key]` of each layer, are unusual.

    That is where rows do not sum to 1, values lie below 0, layers have no weights, or the decoder
    looks ahead. Layers and heads count from 1.
    """
    notes = []
    for kind, maps in layers.items():
        title = KIND_TITLES[kind]
        there = [str(number) for number, layer in enumerate(maps, start=1) if len(layer)]
        if len(there) < len(maps):
            notes.append(f"There is {title} in these layers alone: {', '.join(there)}.")
        notes += _sums(maps, title) + _negatives(maps, title)
        if kind == "decoder_self":
            notes += _ahead(maps)
    return tuple(notes)


def _sums(layers: Sequence[Weights], title: str) -> list[str]:
    with np.errstate(over="ignore"):
        sums = [layer.sum(-1) for layer in layers]  # [head, query] each
    heads = _heads([np.abs(layer - 1).max(-1) for layer in sums], TOLERANCE)
    if not heads.number:
        return []
    rows = np.concatenate([layer.ravel() for layer in sums])
    rows = rows[np.abs(rows - 1) > TOLERANCE]
    low, high = _number(rows.min()), _number(rows.max())
    span = low if low == high else f"{low} to {high}"
    if rows.min() > 0 and rows.max() < 1:
        span += "; the rest lies on no token here, as on a sink that each head of gpt-oss has"
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
    """The number of heads with a value above a bound, the head with the largest, and that value."""

    number: int
    farthest: str = ""
    value: float = 0.0


def _heads(values: Sequence[npt.NDArray[np.floating]], above: float) -> _Heads:
    """Find the heads above a bound in the values of each layer, `[head]`."""
    heads = [
        (float(layer[head]), f"L{number} H{head + 1}")
        for number, layer in enumerate(values, start=1)
        for head in np.flatnonzero(layer > above)
    ]
    if not heads:
        return _Heads(0)
    value, farthest = max(heads, key=lambda head: head[0])
    return _Heads(len(heads), farthest, value)


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
