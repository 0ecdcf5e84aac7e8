"""Notes on weights that came from another model, in plain sentences."""

from collections.abc import Mapping, Sequence

import numpy as np

from transformer.arrays import AnyFloats, Singles
from transformer.kinds import KIND_TITLES, Kind

TOLERANCE = 5e-3
"""Largest distance of a row's sum from 1: bfloat16 rounds each weight by up to 1 in 256."""


def notes_on(layers: Mapping[Kind, Sequence[Singles]]) -> tuple[str, ...]:
    """Write a sentence on each kind whose weights, `[head, query, key]` of a layer, are unusual."""
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


def _sums(layers: Sequence[Singles], title: str) -> list[str]:
    with np.errstate(over="ignore"):
        sums = [layer.sum(-1) for layer in layers]  # [head, query] each
    count, farthest, _ = _heads([np.abs(layer - 1).max(-1) for layer in sums], TOLERANCE)
    if not count:
        return []
    rows = np.concatenate([layer.ravel() for layer in sums])
    rows = rows[np.abs(rows - 1) > TOLERANCE]
    low, high = _number(rows.min()), _number(rows.max())
    span = low if low == high else f"{low} to {high}"
    if rows.min() > 0 and rows.max() < 1:
        span += "; the rest lies elsewhere: on a sink (gpt-oss), or in the other kind (T5Gemma 2)"
    where = farthest if count == 1 else f"{count:,} heads, {farthest} the most"
    return [f"As given, rows of {title} do not sum to 1 in {where}: {span}."]


def _negatives(layers: Sequence[Singles], title: str) -> list[str]:
    count, farthest, value = _heads([-layer.min((-1, -2)) for layer in layers], 0)
    if not count:
        return []
    where = "" if count == 1 else f" in {count:,} heads"
    return [f"Values of {title} are negative{where}, down to {_number(-value)} in {farthest}."]


def _ahead(layers: Sequence[Singles]) -> list[str]:
    count, farthest, value = _heads(
        [np.abs(np.triu(layer, 1)).sum(-1).max(-1) for layer in layers], 0
    )
    if not count:
        return []
    return [
        f"The decoder looks ahead: up to {_number(value)} of a row of {farthest} lies "
        f"on later positions."
    ]


def _heads(values: Sequence[AnyFloats], above: float) -> tuple[int, str, float]:
    """Count the heads whose values, `[head]` of each layer, exceed a bound; name the farthest."""
    heads = [
        (float(layer[head]), f"L{number} H{head + 1}")
        for number, layer in enumerate(values, start=1)
        for head in np.flatnonzero(layer > above)
    ]
    value, farthest = max(heads, key=lambda head: head[0], default=(0.0, ""))
    return len(heads), farthest, value


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
