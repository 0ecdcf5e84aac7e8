"""The bytes of the components that `wire.py` does not carry yet."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray


def run_of_bytes(header: Mapping[str, Any], *arrays: NDArray) -> bytes:
    """The length of a header, the header as JSON, and arrays in C order, end to end."""
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", errors="replace")
    parts = [struct.pack("<I", len(text)), text, *(array.tobytes() for array in arrays)]
    return b"".join(parts)
