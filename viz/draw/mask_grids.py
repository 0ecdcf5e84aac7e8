"""The masks of a batch, one grid for each sentence: data for `viz/browser/mask_grids`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from transformer import config, kinds, trace
from transformer.text import tokenizer
from viz.draw import formatting, palette, wire
from viz.draw.labels import capitalised, display_tokens, quoted, row_names

if TYPE_CHECKING:
    from transformer.paper.masking import MaskReason

Row: TypeAlias = tuple[int, int]  # sentence and row of its grid, both from 0

REASONS: Mapping["MaskReason", tuple[str, str]] = {
    "later": ("it comes later", "they come later"),
    "padding": ("it is padding", "they are padding"),
    "both": ("it comes later and is padding", "they come later and are padding"),
}
"""Reasons that hide a key, for one key and for several."""

CODES = ("seen", *REASONS)  # states of a square, encoded by their index here

PADDING = tokenizer.SPECIAL[config.PAD]


@dataclass(frozen=True, eq=False)
class MaskGrid:
    """The mask of one sentence."""

    title: str
    # `[query, key]`, "seen", or what hides the key: "later", "padding" or "both"
    why: NDArray[np.str_]
    labels: trace.Labels  # the tokens along both axes, `<pad>` included
    # of the rows in a sentence, as `row_names` has them; by default, of English ones
    names: Sequence[str] = ()


def encode_masks(
    grids: Sequence[MaskGrid],
    kind: kinds.Kind,
    *,
    title: str,
    as_numbers: bool,
    chosen: Row,
    caption: Sequence[str] = (),
) -> bytes:
    """Encode the masks of a batch, a grid for each sentence, as strokes or as what is added."""
    present = {why for grid in grids for why in np.unique(grid.why).tolist()}
    message = {
        "title": title,
        "color": palette.COLOR[kind],
        "asNumbers": as_numbers,
        "chosen": chosen,
        "reasons": ["", *(text for text, _ in REASONS.values())],
        "legend": _legend(as_numbers, present),
        "grids": [
            {
                "title": grid.title,
                "queries": display_tokens(grid.labels.queries),
                "keys": display_tokens(grid.labels.keys),
                "names": [*map(capitalised, grid.names or row_names(grid.labels.queries))],
                "faded": [token == PADDING for token in grid.labels.queries],
                "codes": np.vectorize(CODES.index, otypes=[np.uint8])(grid.why),
            }
            for grid in grids
        ],
    }
    return wire.encode_picture("mask_grids", caption, message)


def _legend(as_numbers: bool, present: set[str]) -> list[tuple[int, str]]:
    if as_numbers:
        names = {"seen": "0 is added: may be seen"}
        hidden = next((why for why in REASONS if why in present), None)
        if hidden:
            names[hidden] = "−∞ is added: hidden"
    else:
        names = {"seen": "True: may be seen"}
        names |= {why: f"False: {text}" for why, (text, _) in REASONS.items() if why in present}
    return [(CODES.index(why), text) for why, text in names.items()]


def row_of(value: object, grids: Sequence[MaskGrid]) -> Row | None:
    """Return the clicked sentence and row; None if the message is malformed."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return None
    sentence, row = value
    if not wire.is_index(sentence, len(grids)):
        return None
    return (sentence, row) if wire.is_index(row, len(grids[sentence].labels.queries)) else None


def describe_row(name: str, keys: Sequence[str], whys: Sequence["MaskReason"]) -> list[str]:
    """Describe one row of a mask in the order of the keys, neighbours of one reason together."""
    row = capitalised(name)
    seen = [key for key, why in zip(keys, whys, strict=True) if why == "seen"]
    sentences = [f"{row} may see {_listed(seen)}."]
    for why, group in groupby(zip(keys, whys, strict=True), key=lambda pair: pair[1]):
        if why != "seen":
            hidden = [key for key, _ in group]
            reason = REASONS[why][len(hidden) > 1]
            sentences.append(f"{row} may not see {_listed(hidden)}: {reason}.")
    return sentences


def _listed(tokens: Sequence[str]) -> str:
    """Join tokens as “a”, “b” and “c”; equal neighbours, such as padding, are counted."""
    groups = [(token, len(list(group))) for token, group in groupby(tokens)]
    names = [quoted(token) if n == 1 else f"{n} × {quoted(token)}" for token, n in groups]
    return formatting.listing(names)
