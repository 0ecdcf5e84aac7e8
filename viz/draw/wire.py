"""One form for everything that travels to the browser, and checked, small arrays for it.

A message is a header of JSON, then arrays:

    uint32 version | uint32 n | n bytes of JSON | zeros up to a multiple of 8 | arrays

The header is `{"message": …, "arrays": [{"dtype", "shape"}, …]}`. In the message, `{"$array": n}`
stands for array n, and `{"$message": n}` for the message whose bytes array n holds. Each array
begins at a multiple of 8, so that a typed array can be a view of the bytes. Numbers are
little-endian, arrays in C order. `decode` in `viz/browser/core/wire.ts` reads this, from
Streamlit's socket or from a page that carries the bytes in base64.
"""

import base64
import gzip
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from transformer.trace import Labels

VERSION = 2
DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")
"""Types of numbers for which a browser has a typed array that holds them as they are."""

_ALIGNED = 8


def encode(message: Mapping[str, Any]) -> bytes:
    """Encode plain values, arrays and, as bytes, other messages among them.

    A lone surrogate in a text reaches the browser as it is. A dtype that is not in `DTYPES` raises
    ValueError, as does a plain NaN.
    """
    entries: list[dict[str, Any]] = []
    parts: list[bytes] = []

    def place(value: bytes | NDArray) -> dict[str, int]:
        name = "$message" if isinstance(value, bytes) else "$array"
        array = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)
        if array.dtype.name not in DTYPES:
            raise ValueError(f"an array of {array.dtype}, which is none of {', '.join(DTYPES)}")
        content = array.astype(array.dtype.newbyteorder("<")).tobytes()
        parts.extend([content, _zeros(len(content))])
        entries.append({"dtype": array.dtype.name, "shape": list(array.shape)})
        return {name: len(entries) - 1}

    header = json.dumps(
        {"message": message, "arrays": entries},
        default=place,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    # UTF-8 has no lone surrogates; `\ud83d` is how both Python's handler and JSON write one
    text = header.encode("utf-8", errors="backslashreplace")
    start = struct.pack("<II", VERSION, len(text)) + text
    return b"".join([start, _zeros(len(start)), *parts])


def encode_picture(component: str, caption: Sequence[str], message: Mapping[str, Any]) -> bytes:
    """Encode the message of a component; a file saved from it has the caption."""
    return encode({"component": component, "caption": list(caption), **message})


def encode_value(key: str, value: object) -> bytes:
    """Encode a value that a picture on the page reads by its key; see `core/store.ts`."""
    return encode({"component": "value", "key": key, "value": value})


def packed(content: bytes, level: int = 9) -> str:
    """Pack bytes as text of a page: in base64, no character of it can close a tag."""
    return base64.b64encode(gzip.compress(content, level, mtime=0)).decode()


def is_index(value: object, count: int) -> TypeGuard[int]:
    """Return whether a value, which may be anything, is a whole number from 0 below `count`."""
    return type(value) is int and 0 <= value < count  # of this very type: True is an int


def _zeros(length: int) -> bytes:
    return bytes(-length % _ALIGNED)


def to_bytes(weights: NDArray) -> NDArray[np.uint8]:
    """Quantise weights from 0..1 to 0..255, one byte each: finer than visible on a small map."""
    return np.rint(np.clip(weights, 0, 1) * 255).astype(np.uint8)


def check(weights: NDArray, labels: Labels, *, dimensions: int) -> None:
    """Refuse labels that do not fit the weights: the fault would not be visible."""
    expected = (len(labels.queries), len(labels.keys))
    if weights.ndim != dimensions or weights.shape[-2:] != expected:
        raise ValueError(
            f"weights of shape {weights.shape} for {expected[0]} queries and {expected[1]} keys"
        )
    if 0 in weights.shape:
        raise ValueError(f"nothing to draw in weights of shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("some weights are not numbers")


def block_size(count: int, most: int) -> int:
    """Return the number of neighbours that share a cell, so that there are at most `most` cells."""
    return -(-count // most)


def block_means(values: NDArray, sizes: tuple[int, int]) -> NDArray[np.float32]:
    """Compute the mean of each block, of `sizes` rows and columns, of `[..., row, column]`.

    The last block may be smaller.
    """
    for axis, size in zip((-2, -1), sizes, strict=True):
        if size > 1:
            starts = np.arange(0, values.shape[axis], size)
            sums = np.add.reduceat(values, starts, axis=axis)
            counts = np.diff([*starts, values.shape[axis]])
            values = sums / (counts[:, None] if axis == -2 else counts)
    return values.astype(np.float32, copy=False)
