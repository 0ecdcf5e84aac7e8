"""The grid of all heads: data for `viz/browser/head_grid`, one byte for each weight."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer import trace
from transformer.analysis.heads import measures
from transformer.analysis.heads.head import Head
from transformer.kinds import Kind
from viz.draw import formatting, palette, wire
from viz.draw.labels import SCREEN_NAMES, browser_tokens

LAYER_ORDER = "layer"
SORTS = (LAYER_ORDER, *measures.MEASURES)  # orders of the heads

LARGEST = 128  # cells along a side of a small map; no screen gives it more pixels


@dataclass(frozen=True)
class GridPart:
    """Every head of one kind."""

    kind: Kind
    weights: NDArray[np.float32]  # `[layer, head, query, key]`, 0 to 1
    labels: trace.Labels
    # `[layer][head]`, what a head does in a word, such as `one-to-one`; "" for nothing
    roles: Sequence[Sequence[str]] = ()
    # `[layer, head]`, the measure by which the maps are sorted; shown at each of them
    values: NDArray | None = None
    together: bool = False  # whether there is one map for all heads of a layer
    # heads of each layer, where not every layer has as many as `weights` has room for; one without
    # any is not drawn
    counts: Sequence[int] = ()
    # whether a decoder's position sees no later one; of no other kind does it say anything
    causal: bool = True
    amount: str = "weight"  # what a square of a map holds, in a word

    def heads_of(self, layer: int) -> int:
        """Return the number of heads of a layer."""
        return self.counts[layer] if self.counts else self.weights.shape[1]


def encode_grid(
    parts: Sequence[GridPart],
    *,
    key: str = "",
    opens: str | None = None,
    selected: Head | None = None,
    order: Sequence[Head] | None = None,
    crossed: Sequence[Head] = (),
    switches: bool = False,
    answered: int = 0,
    step: int | None = None,
    largest: int = LARGEST,
    name_end: str = "",
    caption: Sequence[str] = (),
) -> bytes:
    """Encode the small maps of all heads, a block for each kind, layers down and heads across.

    `encode_selection` outlines a head under `key` where `selected` does not; a mean, layer or head
    -1, outlines none. `opens` is the key of the component of a picked head, which is scrolled into
    view. `order` lists the heads that are drawn, row after row. `crossed` heads are off, and
    `switches` lets a click toggle them; `answered` is the last click that they include, as
    `click_of` returns it. Rows after `step`, from 0, are blank; more than `largest` tokens share
    cells. A saved picture is named after kinds and `name_end`, such as a lens.
    """
    by_kind = {part.kind: part for part in parts}
    shapes = {part.kind: part.weights.shape[:2] for part in parts}
    for head in (*(order or ()), *crossed):
        if head_of(head, shapes) is None or head.head >= by_kind[head.kind].heads_of(head.layer):
            raise ValueError(f"no head {head} in the grid")
    message = {
        "key": key,
        "opens": opens,
        "selected": selected,
        "order": order if order is None else list(order),
        "crossed": list(crossed),
        "switches": switches,
        "answered": answered,
        "step": step,
        "nameEnd": name_end,
        "parts": [_pack(part, step, largest) for part in parts],
    }
    return wire.encode_picture("head_grid", caption, message)


def head_order(parts: Sequence[GridPart], layers: Sequence[int], sort: str) -> list[Head] | None:
    """Order the heads row by row; None if they all stand by layer.

    Confidence falls from the first head to the last, other values rise. Of the shown layers, from
    0, a kind that has fewer shows those that it has.
    """
    every = {n for part in parts for n in range(len(part.weights)) if part.heads_of(n)}
    if sort == LAYER_ORDER and every <= {*layers}:
        return None
    heads = [
        Head(part.kind, layer, head)
        for part in parts
        for layer in layers
        if layer < len(part.weights)
        for head in range(part.heads_of(layer))
    ]
    if sort == LAYER_ORDER:
        return heads
    values = {part.kind: part.values for part in parts if part.values is not None}
    # sorted() is stable: equal values stay in the order of kinds and layers
    return sorted(heads, key=lambda h: values[h.kind][h[1:]], reverse=sort == "confidence")


def encode_selection(key: str, head: Head) -> bytes:
    """Encode the outlined head apart from its grid, whose megabytes are not sent again."""
    return wire.encode_value(key, list(head))


def _pack(part: GridPart, step: int | None, largest: int) -> dict[str, Any]:
    """Return a part of the message, with its levels as `[layer, head, row, column]` of blocks."""
    wire.check(part.weights, part.labels, dimensions=4)
    layers, heads, queries, keys = part.weights.shape
    roles = part.roles or [[""] * heads] * layers
    values = np.full((layers, heads), np.nan) if part.values is None else np.asarray(part.values)
    counts = [part.heads_of(layer) for layer in range(layers)]
    weights = part.weights
    if decodes := step is not None and part.kind != "encoder_self":
        weights = weights[:, :, : step + 1]  # before the blocks: one may reach past the step
    block = math.ceil(queries / largest), math.ceil(keys / largest)
    rows, columns = math.ceil(queries / block[0]), math.ceil(keys / block[1])
    drawn = wire.to_bytes(_largest(weights, block))
    levels = np.zeros((layers, heads, rows, columns), dtype=np.uint8)
    levels[:, :, : drawn.shape[2]] = drawn
    return {
        "kind": part.kind,
        "name": SCREEN_NAMES[part.kind],
        "causal": part.kind == "decoder_self" and part.causal,
        "color": palette.COLOR[part.kind],
        "layers": layers,
        "heads": heads,
        "counts": counts,
        "together": part.together,
        "amount": part.amount,
        "queries": browser_tokens(part.labels.queries),
        "keys": browser_tokens(part.labels.keys),
        "block": block,
        "rows": rows,
        "columns": columns,
        "last": step // block[0] if decodes and step is not None else None,
        "roles": [list(row) for row in roles],
        "values": [[_figure(value) for value in row] for row in values.tolist()],
        "strongest": _strongest(weights),
        "weights": levels,
    }


def _largest(weights: NDArray, block: tuple[int, int]) -> NDArray:
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


def _figure(value: float) -> str:
    """Format a measure with three figures; "" if it is missing."""
    if not math.isfinite(value):
        return ""
    return formatting.format_number(value, 2 if abs(value) < 10 else 1)


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
