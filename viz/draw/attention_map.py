"""Maps and ribbons of heads: data for `viz/browser/attention_map` and `viz/browser/ribbons`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from transformer import kinds, trace
from transformer.text.languages import Languages
from viz.draw import wire
from viz.draw.labels import axis_titles, browser_tokens, decoder_rows

Scale = Literal["linear", "square root", "by row"]
"""How colours follow weights; the numbers are the true ones on each."""

NOTE = "The weights of each row sum to 1."
SIGNED_NOTE = "Each square is first minus second; rows sum to 0."
MAX_HEADS = 8
RIBBONS_NOTE = "Weights under {from_weight:g} are not drawn."
FAINTEST = 0.01  # a thinner ribbon could not be seen, and there are thousands of them


def encode_map(
    weights: NDArray[np.float32],
    labels: trace.Labels,
    kind: kinds.Kind,
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
    pinned: int | None = None,
    unused: bool = False,
    room: Mapping[str, Any] | None = None,
    caption: Sequence[str] = (),
) -> bytes:
    """Encode the map of one head, `[query, key]`: queries down, keys across, weights exact.

    Weights are 0 to 1; if `signed`, the difference of two maps, -1 to 1. `reads` and `writes`,
    `[query]`, are what the decoder reads where the labels are what it writes, and the reverse: rows
    then carry both names. `pinned` is the row in the address, -1 for none; None if the page does
    not follow it. `room` is `map_words` of the largest map that will take this map's place. With
    `beside_difference`, bars have the room of a difference, so that adjacent maps align. With
    `paints`, pressed squares are sent to the page. A saved picture is named after its title.
    """
    wire.check(weights, labels, dimensions=2)
    message = {
        **_axes(labels, kind, languages, alone, by_read, reads, writes),
        **map_words(labels, kind, languages, reads, writes),
        "room": room,
        "causal": kind == "decoder_self" and causal,
        "title": title,
        "note": note or (SIGNED_NOTE if signed else NOTE),
        "scale": scale,
        "threshold": threshold,
        "signed": signed,
        "amount": amount,
        "tallBars": signed or beside_difference,
        "paints": paints,
        "pinned": pinned,
        "unused": unused,
        "weights": weights.astype(np.float32),
    }
    return wire.encode_picture("attention_map", caption, message)


def encode_ribbons(
    heads: Sequence[tuple[str, NDArray[np.float32]]],
    labels: trace.Labels,
    kind: kinds.Kind,
    *,
    title: str,
    languages: Languages,
    alone: bool = False,
    by_read: bool = False,
    threshold: float = 0.0,
    amount: str = "weight",
    reads: Sequence[str] | None = None,
    caption: Sequence[str] = (),
    writes: Sequence[str] | None = None,
) -> bytes:
    """Encode ribbons: queries left, keys right, a band for each weight between them.

    The arguments are those of `encode_map`, but for `heads`: one to eight names, such as `L3 H5`,
    with weights `[query, key]`, 0 to 1, and for `title`, what they share, such as their kind. A
    saved picture is named after both. The first has the kind's colour; each can be switched off
    in the browser. Weights of less than 0.01, or than `threshold`, get no ribbon.
    """
    for _, weights in heads:
        wire.check(weights, labels, dimensions=2)
    drawn_from = max(threshold, FAINTEST)
    message = {
        **_axes(labels, kind, languages, alone, by_read, reads, writes),
        "title": title,
        "heads": [name for name, _ in heads],
        "note": RIBBONS_NOTE.format(from_weight=drawn_from),
        "from": drawn_from,
        "amount": amount,
        "weights": np.stack([weights for _, weights in heads]).astype(np.float32),
    }
    return wire.encode_picture("ribbons", caption, message)


def _axes(
    labels: trace.Labels,
    kind: kinds.Kind,
    languages: Languages,
    alone: bool,
    by_read: bool,
    reads: Sequence[str] | None,
    writes: Sequence[str] | None,
) -> dict[str, Any]:
    """Return titles and tokens of both axes, and the names of a decoder's rows, where known."""
    row: kinds.Row | None = None
    if by_read or writes is not None:
        row = "reads"
    elif reads is not None:
        row = "writes"
    titles = axis_titles(kind, languages, row=row, alone=alone)
    sides = _read_and_written(labels, reads, writes)
    names = None if sides is None else decoder_rows(*sides)
    queries, keys = map(browser_tokens, labels)
    return {"kind": kind, **titles._asdict(), "queries": queries, "keys": keys, "rowNames": names}


def pinned_row(value: object, labels: trace.Labels) -> int | None:
    """Return the row that a message pins, -1 to unpin; None if malformed or of another map."""
    if not isinstance(value, Mapping) or not _is_of(value, labels):
        return None
    row = value.get("pinned")
    return row if row == -1 or wire.is_index(row, len(labels.queries)) else None


def _is_of(value: Mapping[str, object], labels: trace.Labels) -> bool:
    queries, keys = map(browser_tokens, labels)
    return value.get("queries") == queries and value.get("keys") == keys


def _read_and_written(
    labels: trace.Labels, reads: Sequence[str] | None, writes: Sequence[str] | None
) -> tuple[Sequence[str], Sequence[str]] | None:
    """Return what the decoder reads and writes at each row; None where one of them is not known."""
    if reads is None and writes is None:
        return None
    return reads or labels.queries, writes or labels.queries


def map_words(
    labels: trace.Labels,
    kind: kinds.Kind,
    languages: Languages,
    reads: Sequence[str] | None,
    writes: Sequence[str] | None,
) -> dict[str, Any]:
    """Return the words around a map; `both` names at the left and at the right of its rows."""
    queries, keys = map(browser_tokens, labels)
    words: dict[str, Any] = {"queries": queries, "keys": keys, "both": None}
    if (sides := _read_and_written(labels, reads, writes)) is not None:
        titles = [axis_titles(kind, languages, row=row).rows for row in kinds.ROWS]
        sides_by_row = dict(zip(kinds.ROWS, map(browser_tokens, sides), strict=True))
        words["both"] = {"titles": titles, **sides_by_row}
    return words


def squares_of(value: object, title: str, labels: trace.Labels) -> list[tuple[int, int]]:
    """Return row and column of the squares that a message names; none if it is of another map."""
    if not isinstance(value, Mapping) or value.get("title") != title or not _is_of(value, labels):
        return []
    squares, sizes = value.get("squares"), [len(tokens) for tokens in labels]
    if not isinstance(squares, list | tuple) or len(squares) > sizes[1]:
        return []
    for square in squares:
        if not isinstance(square, list | tuple) or len(square) != 2:
            return []
        if not all(map(wire.is_index, square, sizes)):
            return []
    one_row = len({row for row, _ in squares}) == 1
    return [(row, key) for row, key in squares] if one_row else []
