"""The drawing of the model as Streamlit mounts it, and the bytes that travel for it.

    uint32 n | n bytes of JSON | 4 × colours, light then dark, 2 × 256 × 3 bytes | levels

The colours are those of differences and of the three kinds of attention; the levels are one byte a
value, box after box, each in C order. `unpackDrawing` in `architecture_data.js` reads this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viz.draw.packet import run_of_bytes
from viz.draw.palette import COLOR, difference_levels, difference_table, table
from viz.draw.weights import to_bytes

if TYPE_CHECKING:
    from transformer.kinds import Kind

MOST_ROWS, MOST_COLUMNS = 64, 512
"""Values along the sides of a strip; no box gives it more pixels."""


@dataclass(frozen=True)
class DrawnBox:
    """One box with what stands in it.

    Args:
        name: by which the plan in `architecture_plan.js` knows its place.
        title: on the box.
        shape: of what leaves it, such as `12 × 256`.
        says: the text alternative, one sentence.
        values: `[row, column]` of any size, or `[head, query, key]` from 0 to 1 where there is a
            kind; None where nothing is drawn.
        kind: of the attention, which gives the colours.
    """

    name: str
    title: str
    shape: str
    says: str
    values: NDArray[np.float32] | None = None
    kind: Kind | None = None


def drawing_packet(boxes: Sequence[DrawnBox], *, layers: int, layer: int, selected: str) -> bytes:
    """What `architecture.js` draws.

    Raises:
        ValueError: if a name stands twice, or a value is not a number.
    """
    if len({box.name for box in boxes}) < len(boxes):
        raise ValueError("two boxes of one name")
    strips = [_levels(box) for box in boxes]
    header = {
        "layers": layers,
        "layer": layer,
        "selected": selected,
        "boxes": [
            {
                "name": box.name,
                "title": box.title,
                "shape": box.shape,
                "says": box.says,
                "kind": box.kind,
                "color": COLOR[box.kind] if box.kind else None,
                "levels": strip.shape,
            }
            for box, strip in zip(boxes, strips, strict=True)
        ],
        "palettes": ["difference", *COLOR],
    }
    tables = [difference_table("light"), difference_table("dark")]
    tables += [table(kind, theme) for kind in COLOR for theme in ("light", "dark")]
    return run_of_bytes(header, *tables, *strips)


def _levels(box: DrawnBox) -> NDArray[np.uint8]:
    """`[map, row, column]` places in the box's colours; nothing where nothing is drawn."""
    if box.values is None:
        return np.zeros((0, 0, 0), dtype=np.uint8)
    if not np.isfinite(box.values).all():
        raise ValueError(f"some values of {box.name} are not numbers")
    if box.kind:
        return to_bytes(_shrunk(box.values))
    return difference_levels(_shrunk(box.values[None]))


def _shrunk(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of each block, where there are more values than a strip has pixels."""
    for axis, most in ((1, MOST_ROWS), (2, MOST_COLUMNS)):
        count = math.ceil(values.shape[axis] / most)
        if count > 1:
            starts = np.arange(0, values.shape[axis], count)
            sums = np.add.reduceat(values, starts, axis=axis)
            sizes = np.diff([*starts, values.shape[axis]])
            shape = [-1 if n == axis else 1 for n in range(3)]
            values = (sums / sizes.reshape(shape)).astype(np.float32)
    return values
