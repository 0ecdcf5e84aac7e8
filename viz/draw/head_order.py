"""In which order the heads of a grid stand, where they do not stand by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import MEASURES

if TYPE_CHECKING:
    from viz.draw.head_grid import GridPart

LAYER_ORDER = "layer"
SORTS = (LAYER_ORDER, *MEASURES)
"""What heads can be sorted by."""

_DESCENDING = frozenset({"confidence"})


def head_order(parts: Sequence[GridPart], layers: Sequence[int], sort: str) -> list[Head] | None:
    """Order the heads row by row; None if they all stand by layer.

    Args:
        parts: with the values by which they are sorted, where they are.
        layers: those that are shown, from 0; a kind that has fewer shows those that it has.
        sort: one of `SORTS`; confidence falls from the first head to the last, the others rise.
    """
    shown = [[layer for layer in layers if layer < len(part.weights)] for part in parts]
    every = all(len(own) == len(part.weights) for own, part in zip(shown, parts, strict=True))
    if sort == LAYER_ORDER and every:
        return None
    heads_at = [
        (
            0.0 if part.values is None else float(part.values[layer, head]),
            Head(part.kind, layer, head),
        )
        for part, own in zip(parts, shown, strict=True)
        for layer in own
        for head in range(part.heads_of(layer))
    ]
    # sorted() is stable: equal values stay in the order of kinds and layers
    heads_at.sort(key=lambda item: item[0], reverse=sort in _DESCENDING)
    return [head for _, head in heads_at]
