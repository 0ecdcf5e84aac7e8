"""The map of one head: what travels for `js/attention_map`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from transformer.text.languages import Languages
from viz.draw.labels import axis_titles, display_tokens
from viz.draw.palette import difference_table, table
from viz.draw.weights import check, named_rows
from viz.draw.wire import encode

if TYPE_CHECKING:
    from transformer.kinds import Kind
    from transformer.trace import Labels

Scale = Literal["linear", "square root", "by row"]
"""How colours follow weights; the numbers are the true ones on each."""

NOTE = "Each row is one position that looks; its weights sum to 1."
SIGNED_NOTE = "Each square is first minus second; rows sum to 0."


def encode_map(
    weights: NDArray[np.float32],
    labels: Labels,
    kind: Kind,
    *,
    title: str,
    languages: Languages,
    alone: bool = False,
    by_read: bool = False,
    causal: bool = True,
    reads: Sequence[str] | None = None,
    writes: Sequence[str] | None = None,
    scale: Scale = "linear",
    threshold: float = 0.0,
    signed: bool = False,
    amount: str = "weight",
    note: str | None = None,
    beside_difference: bool = False,
    paints: bool = False,
    caption: Sequence[str] = (),
) -> bytes:
    """One head: queries down, keys across.

    Args:
        weights: `[query, key]`, 0 to 1; they reach the browser exactly.
        labels: the tokens along both axes, pieces or whole words.
        kind: gives the colour and the words on the axes.
        title: such as `L3 H5 · cross`; a picture that is saved takes its file name from it.
        languages: of both sides, for the words on the axes.
        alone: whether there is but one sentence: see `axis_titles`.
        by_read: whether rows are named by what is read because what is written is not known.
        causal: whether a decoder's position sees no later one; of no other kind does it say
            anything.
        reads: `[query]`, what the decoder reads at each row, where rows are named by what it
            writes; for the text on hover.
        writes: `[query]`, likewise where they are named by what it reads.
        scale: how colours follow the weights; by row, each row's largest is the deepest. Numbers
            and bars are the weights themselves on each, and the legend says which it is.
        threshold: squares of less than this stay empty; on hover they still tell their weight.
        signed: the weights are a difference of two maps, -1 to 1, in colours of no kind.
        amount: what a square holds, in a word.
        note: the sentence under the map, instead of the one that says what a row sums to.
        beside_difference: leave the bars as much room as a difference has, so that maps side by
            side stand level.
        paints: whether squares that are pressed are told to the page, instead of keeping their row.
        caption: what the picture was made from, for a file that is saved.

    Raises:
        ValueError: if a label is missing or too many, or a weight is not a number.
    """
    check(weights, labels, dimensions=2)
    axes = axis_titles(kind, languages, by_read=by_read or writes is not None, alone=alone)
    meta = {
        "component": "attention_map",
        "caption": list(caption),
        "kind": kind,
        "causal": kind == "decoder_self" and causal,
        "title": title,
        **axes._asdict(),
        "note": note or (SIGNED_NOTE if signed else NOTE),
        "queries": display_tokens(labels.queries),
        "keys": display_tokens(labels.keys),
        "rowNames": named_rows(reads, writes, labels),
        "scale": scale,
        "threshold": threshold,
        "signed": signed,
        "amount": amount,
        "tallBars": signed or beside_difference,
        "paints": paints,
    }
    colors = difference_table if signed else partial(table, kind)
    arrays: dict[str, NDArray] = {
        "weights": weights.astype(np.float32),
        "light": colors("light"),
        "dark": colors("dark"),
    }
    return encode(meta, arrays)


def squares_of(value: object, title: str, labels: Labels) -> list[tuple[int, int]]:
    """Return the squares of the one row that a message names; none if it is malformed.

    What a browser sends can be anything. Squares that were pressed on another map are none, too:
    the browser names the map, since another one may be there before the press is heard.

    Args:
        value: what may be squares.
        title: of the map, with `labels` as it was encoded.
        labels: of the map.

    Returns:
        Row and column of each.
    """
    shown = {
        "title": title,
        "queries": display_tokens(labels.queries),
        "keys": display_tokens(labels.keys),
    }
    if not isinstance(value, Mapping) or any(value.get(name) != shown[name] for name in shown):
        return []
    return _squares_of_row(value.get("squares"), labels)


def _squares_of_row(squares: object, labels: Labels) -> list[tuple[int, int]]:
    """Squares of one row of the map; none where these are anything else."""
    queries, keys = (range(len(tokens)) for tokens in labels)
    if not isinstance(squares, list | tuple) or len(squares) > len(keys):
        return []
    for square in squares:
        if not isinstance(square, list | tuple) or len(square) != 2:
            return []
        row, key = square
        # type, for True is an int
        if type(row) is not int or type(key) is not int or row not in queries or key not in keys:
            return []
    one_row = len({row for row, _ in squares}) == 1
    return [(row, key) for row, key in squares] if one_row else []
