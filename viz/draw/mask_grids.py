"""The masks of a batch as Streamlit mounts them: one grid for each sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viz.draw.labels import shown
from viz.draw.mask_reasons import REASONS
from viz.draw.palette import COLOR

if TYPE_CHECKING:
    from transformer.kinds import Kind
    from transformer.trace import Labels

Row: TypeAlias = tuple[int, int]
"""Sentence and row of its grid, both from 0."""

CODES = ("seen", *REASONS)
"""What a square can be; JavaScript knows them by their places here."""

PADDING = "<pad>"
_SAID = ["", *(one for one, _ in REASONS.values())]


@dataclass(frozen=True, eq=False)
class MaskGrid:
    """The mask of one sentence.

    Args:
        title: stands over it.
        why: `[query, key]`, "seen", or what hides the key: "later", "padding" or "both".
        labels: the tokens along both axes, `<pad>` included.
    """

    title: str
    why: NDArray[np.str_]
    labels: Labels


def mask_data(
    grids: Sequence[MaskGrid], kind: Kind, *, title: str, numbers: bool, chosen: Row
) -> dict[str, Any]:
    """What `mask_grids.js` draws: each row of a mask is a word of digits, places in `CODES`.

    Raises:
        ValueError: if there is no grid, or a label is missing or too many.
    """
    if not grids:
        raise ValueError("a batch has at least one sentence")
    there = {why for grid in grids for why in np.unique(grid.why).tolist()}
    return {
        "title": title,
        "color": COLOR[kind],
        "numbers": numbers,
        "chosen": list(chosen),
        "said": _SAID,
        "legend": _legend(numbers, there),
        "grids": [_grid(grid) for grid in grids],
    }


def _grid(grid: MaskGrid) -> dict[str, Any]:
    queries, keys = grid.labels
    if grid.why.shape != (len(queries), len(keys)):
        raise ValueError(f"{grid.why.shape} squares for {len(queries)} queries, {len(keys)} keys")
    return {
        "title": grid.title,
        "queries": shown(queries),
        "keys": shown(keys),
        "faded": [token == PADDING for token in queries],
        "why": ["".join(str(CODES.index(why)) for why in row) for row in grid.why.tolist()],
    }


def _legend(numbers: bool, there: set[str]) -> list[tuple[int, str]]:
    """A code and its words for each look that a square has here."""
    if numbers:
        names = {"seen": "0 is added: may be seen"}
        hidden = next((why for why in REASONS if why in there), None)
        if hidden:
            names[hidden] = "−∞ is added: hidden"
    else:
        names = {"seen": "True: may be seen"}
        names |= {why: f"False: {one}" for why, (one, _) in REASONS.items() if why in there}
    return [(CODES.index(why), text) for why, text in names.items()]


def _is_row(value: object, grids: Sequence[MaskGrid]) -> bool:
    """Whether this is a sentence and a row of it; what a browser sends can be anything."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return False
    if any(type(at) is not int or at < 0 for at in value):
        return False
    sentence, row = value
    return sentence < len(grids) and row < len(grids[sentence].labels.queries)
