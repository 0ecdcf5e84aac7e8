"""Arrays and labels as one run of bytes, the form in which the browser's side takes them.

    uint32 n | n bytes of JSON | colours, light then dark, 2 × 256 × 3 bytes | weights

Numbers are little-endian, the weights in C order. `unpack` in `shared.js` reads this, be it from
Streamlit's socket or from a page that carries the bytes in base64.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from viz.components.labels import AXES, shown
from viz.components.palette import table

if TYPE_CHECKING:
    from transformer.trace import Kind, Labels

NOTE = "Each row is one word that looks; its weights sum to 1."


def to_bytes(weights: NDArray) -> NDArray[np.uint8]:
    """One byte a weight, 0..1 to 0..255: finer than an eye can tell on a small map."""
    return np.rint(np.clip(weights, 0, 1) * 255).astype(np.uint8)


def map_packet(
    weights: NDArray[np.float32],
    labels: Labels,
    kind: Kind,
    *,
    title: str,
    reads: tuple[str, ...] | None = None,
) -> bytes:
    """What `attention_map.js` draws: the exact weights of one head, `[query, key]`.

    Raises:
        ValueError: if a label is missing or too many, or a weight is not a number.
    """
    check(weights, labels, dimensions=2)
    if reads is not None and len(reads) != len(labels.queries):
        raise ValueError(f"{len(reads)} tokens read for {len(labels.queries)} queries")
    header = {
        "title": title,
        **AXES[kind]._asdict(),
        "note": NOTE,
        "reads": None if reads is None else shown(reads),
    }
    return pack(header, weights.astype("<f4"), labels, kind)


def pack(header: dict[str, Any], weights: NDArray, labels: Labels, kind: Kind) -> bytes:
    """Header, colours and weights as the run of bytes described above."""
    everything = {
        "kind": kind,
        "queries": shown(labels.queries),
        "keys": shown(labels.keys),
        "dtype": "uint8" if weights.dtype == np.uint8 else "float32",
        **header,
    }
    text = json.dumps(everything, ensure_ascii=False).encode("utf-8", errors="replace")
    colors = table(kind, "light").tobytes() + table(kind, "dark").tobytes()
    return struct.pack("<I", len(text)) + text + colors + weights.tobytes()


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
