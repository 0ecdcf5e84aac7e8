"""The grid of all heads: data for `viz/browser/head_grid`, one byte for each weight."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer.analysis.heads import measures
from transformer.analysis.heads.head import Head
from transformer.kinds import Kind
from viz.draw import wire
from viz.draw.caption import amount, tells_heads
from viz.draw.open_head import Heads, every_head

LAYER_ORDER = "layer"
SORTS = (LAYER_ORDER, *measures.MEASURES)  # orders of the heads

LARGEST = 128  # cells along a side of a small map; no screen gives it more pixels


def encode_grid(
    kinds: Sequence[Heads],
    *,
    key: str = "",
    opens: str | None = None,
    selected: Head | None = None,
    order: Sequence[Head] | None = None,
    crossed: Sequence[Head] = (),
    switches: bool = False,
    answered: int = 0,
    largest: int = LARGEST,
    name_end: str = "",
    caption: Sequence[str] = (),
) -> bytes:
    """Encode the small maps of all heads, a block for each kind, layers down and heads across.

    `encode_selection` outlines a head under `key` where `selected` does not; a mean, layer or head
    -1, outlines none. `opens` is the key of the component of a picked head, which is scrolled into
    view. `order` lists the heads that are drawn, row after row. `crossed` heads are off, and
    `switches` lets a click toggle them; `answered` is the last click that they include, as
    `click_of` returns it. More than `largest` tokens share cells. A saved picture is named after
    kinds and `name_end`, such as a lens.
    """
    there = set(every_head(kinds, range(max(len(heads.counts) for heads in kinds))))
    for head in (*(order or ()), *crossed):
        if head not in there:
            raise ValueError(f"no head {head} in the grid")
    message = {
        "key": key,
        "opens": opens,
        "selected": selected,
        "order": order if order is None else list(order),
        "crossed": list(crossed),
        "switches": switches,
        "answered": answered,
        "nameEnd": name_end,
        "parts": [_pack(heads, largest) for heads in kinds],
    }
    return wire.encode_picture("head_grid", caption, message)


def head_order(kinds: Sequence[Heads], layers: Sequence[int], sort: str) -> list[Head] | None:
    """Order the heads row by row; None if they all stand by layer.

    Confidence falls from the first head to the last, other values rise. Of the shown layers, from
    0, a kind that has fewer shows those that it has.
    """
    every = {n for heads in kinds for n, count in enumerate(heads.counts) if count}
    if sort == LAYER_ORDER and every <= {*layers}:
        return None
    shown = every_head(kinds, layers)
    if sort == LAYER_ORDER:
        return shown
    values = {heads.kind: heads.values for heads in kinds if heads.values is not None}
    # sorted() is stable: equal values stay in the order of kinds and layers
    return sorted(shown, key=lambda h: values[h.kind][h[1:]], reverse=sort == "confidence")


def encode_selection(key: str, head: Head) -> bytes:
    """Encode the outlined head apart from its grid, whose megabytes are not sent again."""
    return wire.encode_value(key, list(head))


def _pack(heads: Heads, largest: int) -> dict[str, Any]:
    """Return a part of the message, with its levels as `[layer, head, row, column]` of blocks."""
    axes = heads.axes
    wire.check(axes.weights, axes.labels, dimensions=4)
    layers, most, *size = axes.weights.shape
    block = [math.ceil(count / largest) for count in size]
    rows, columns = map(math.ceil, np.divide(size, block))
    return {
        "kind": heads.kind,
        "causal": axes.is_causal(heads.kind),
        "layers": layers,
        "heads": most,
        "counts": heads.counts,
        "together": not tells_heads(heads.lens),
        "amount": amount(heads.lens),
        "queries": axes.labels.queries,
        "keys": axes.labels.keys,
        "block": block,
        "rows": rows,
        "columns": columns,
        "roles": heads.roles or [[""] * most] * layers,
        "values": None if heads.values is None else heads.values.astype(np.float32),
        "strongest": _strongest(axes.weights),
        "weights": wire.to_bytes(_largest(axes.weights, block)),
    }


def _largest(weights: NDArray, block: Sequence[int]) -> NDArray:
    """Return the largest weight of each block: a mean would hide the peak of a clear head."""
    for axis, count in zip((2, 3), block, strict=True):
        if count > 1:
            along = np.moveaxis(weights, axis, 0)
            # the nth of every block at once: reduceat goes block by block, four times as slow
            blocks = along[::count].copy("K")
            for n in range(1, count):
                step = along[n::count]  # the last block may be smaller
                np.maximum(blocks[: len(step)], step, out=blocks[: len(step)])
            weights = np.moveaxis(blocks, 0, axis)
    return weights


def _strongest(weights: NDArray) -> list[list[tuple[int, int, float]]]:
    """Find query, key and weight of each head's largest cell, `[layer][head]`, to describe it."""
    flat = weights.reshape(*weights.shape[:2], -1)  # [layer, head, query × key]
    query, key = np.divmod(flat.argmax(-1), weights.shape[3])
    most = flat.max(-1)
    return [
        [(q, k, round(w, 2)) for q, k, w in zip(*row, strict=True)]
        for row in zip(query.tolist(), key.tolist(), most.tolist(), strict=True)
    ]


def click_of(value: object, shapes: Mapping[Kind, tuple[int, ...]]) -> tuple[Head, int] | None:
    """Return the clicked head and when, 0 if it opens one; None if it is malformed."""
    number: object = 0
    if isinstance(value, list) and len(value) == 4:
        *value, number = value
    head = head_of(value, shapes)
    return (head, number) if head and wire.is_index(number, 2**53) else None


def head_of(value: object, shapes: Mapping[Kind, tuple[int, ...]]) -> Head | None:
    """Return the clicked head; None if malformed. Shapes are layers and heads of each kind."""
    if not isinstance(value, (list, tuple)) or len(value) != 3 or value[0] not in [*shapes]:
        return None
    kind, *place = value
    return Head(*value) if all(map(wire.is_index, place, shapes[kind])) else None
