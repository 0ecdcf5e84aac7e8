"""Arrays and labels as one run of bytes, the form in which the browser's side takes them.

    uint32 n | n bytes of JSON | colours, light then dark, 2 × 256 × 3 bytes | weights

Numbers are little-endian, the weights in C order. `unpack` in `shared.js` reads this, be it from
Streamlit's socket or from a page that carries the bytes in base64.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from viz.draw.labels import AXIS_TITLES, shown
from viz.draw.palette import ENDS, Theme, difference_table, head_colors, table

if TYPE_CHECKING:
    from transformer.kinds import Kind
    from transformer.trace import Labels

Scale = Literal["linear", "square root", "by row"]
"""How colours follow weights; the numbers are the true ones on each."""

MOST_HEADS = 8
NOTE = "Each row is one word that looks; its weights sum to 1."
SIGNED_NOTE = "Each square is first minus second; rows sum to 0."
VIEW_NOTE = "Ribbons from {from_weight:g} up; numbers are exact."
FAINTEST = 0.01  # a thinner ribbon could not be seen, and there are thousands of them


def to_bytes(weights: NDArray) -> NDArray[np.uint8]:
    """One byte a weight, 0..1 to 0..255: finer than an eye can tell on a small map."""
    return np.rint(np.clip(weights, 0, 1) * 255).astype(np.uint8)


def map_packet(
    weights: NDArray[np.float32],
    labels: Labels,
    kind: Kind,
    *,
    title: str,
    reads: Sequence[str] | None = None,
    scale: Scale = "linear",
    threshold: float = 0.0,
    signed: bool = False,
    note: str | None = None,
) -> bytes:
    """What `attention_map.js` draws: the exact weights of one head, `[query, key]`.

    Raises:
        ValueError: if a label is missing or too many, or a weight is not a number.
    """
    check(weights, labels, dimensions=2)
    header = {
        "title": title,
        **AXIS_TITLES[kind]._asdict(),
        "note": note or (SIGNED_NOTE if signed else NOTE),
        "reads": _read(reads, labels),
        "scale": scale,
        "threshold": threshold,
        "signed": signed,
    }
    colors = difference_table if signed else partial(table, kind)
    return _pack(header, weights.astype("<f4"), labels, kind, colors)


def view_packet(
    heads: Sequence[tuple[str, NDArray[np.float32]]],
    labels: Labels,
    kind: Kind,
    *,
    threshold: float = 0.0,
    reads: Sequence[str] | None = None,
) -> bytes:
    """What `head_view.js` draws: the exact weights of up to eight heads, each `[query, key]`.

    Raises:
        ValueError: if there is no head or more than eight, if two have one name, if a label is
            missing or too many, or a weight is not a number.
    """
    names = [name for name, _ in heads]
    if not 0 < len(heads) <= MOST_HEADS or len(set(names)) < len(names):
        raise ValueError(f"1 to {MOST_HEADS} heads, each with a name of its own, not {names}")
    for _, weights in heads:
        check(weights, labels, dimensions=2)
    drawn_from = max(threshold, FAINTEST)
    header = {
        "heads": names,
        "colors": {theme: head_colors(kind, theme)[: len(heads)] for theme in ENDS},
        **AXIS_TITLES[kind]._asdict(),
        "note": VIEW_NOTE.format(from_weight=drawn_from),
        "from": drawn_from,
        "reads": _read(reads, labels),
    }
    stacked = np.stack([weights for _, weights in heads])  # [head, query, key]
    return _pack(header, stacked.astype("<f4"), labels, kind, partial(table, kind))


def _pack(
    header: dict[str, Any],
    weights: NDArray,
    labels: Labels,
    kind: Kind,
    colors: Callable[[Theme], NDArray[np.uint8]],
) -> bytes:
    """Header, colours and weights as the run of bytes described above."""
    everything = {
        "kind": kind,
        "queries": shown(labels.queries),
        "keys": shown(labels.keys),
        "dtype": "uint8" if weights.dtype == np.uint8 else "float32",
        **header,
    }
    return run_of_bytes(everything, colors("light"), colors("dark"), weights)


def run_of_bytes(header: Mapping[str, Any], *arrays: NDArray) -> bytes:
    """The length of a header, the header as JSON, and arrays in C order, end to end."""
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", errors="replace")
    parts = [struct.pack("<I", len(text)), text, *(array.tobytes() for array in arrays)]
    return b"".join(parts)


def _read(reads: Sequence[str] | None, labels: Labels) -> list[str] | None:
    if reads is None:
        return None
    if len(reads) != len(labels.queries):
        raise ValueError(f"{len(reads)} tokens read for {len(labels.queries)} queries")
    return shown(reads)


def check(weights: NDArray, labels: Labels, *, dimensions: int) -> None:
    """A label beside another word's weight is the one fault that nobody would see: refuse it."""
    expected = (len(labels.queries), len(labels.keys))
    if weights.ndim != dimensions or weights.shape[-2:] != expected:
        raise ValueError(
            f"weights of shape {weights.shape} for {expected[0]} queries and {expected[1]} keys"
        )
    if 0 in weights.shape:
        raise ValueError(f"nothing to draw in weights of shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("some weights are not numbers")
