"""One thing that can be wrong with a checkpoint folder."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from transformer.checkpoints.checkpoint import CONFIG, MANIFEST, TOKENIZER, WEIGHTS

FILES = (WEIGHTS, CONFIG, TOKENIZER, MANIFEST, "MODEL_CARD.md", "run.jsonl")
Accepted = Literal["no", "same", "other"]

NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 3, 7, 2**16, 2**20, 2**31, 2**63, 10**18, 10**400, -(10**400), 1.5, 16.0),
    *(math.nan, math.inf, True, False, None, "16", "", [], {}, [16], {"16": 16}, "x" * 10_000),
)
NAMES = (
    *("x", "", "x" * 300, "x" * 10_000, "a\nb", "a\0b", "\x1b[31m", "\u202e", "../x", "/etc/hosts"),
    *(".", "..", "a/b", "\ud800", "__metadata__", "NUL", "shared_embedding.", "MANIFEST.json"),
)


@dataclass(frozen=True)
class Damage:
    """One thing that is done to a copy of a folder.

    Args:
        name: what it is, in a few words.
        do: does it.
        accepted: whether the folder may still be loaded: not at all, with the same translations as
            before, or with others, where other weights or sizes are as good.
        at: what is loaded, inside the folder.
    """

    name: str
    do: Callable[[Path], object]
    accepted: Accepted
    at: str = "."


def sign(folder: Path) -> None:
    """Make all checksums anew, as the program that wrote the files would."""
    path = folder / MANIFEST
    manifest = json.loads(path.read_bytes())
    manifest["sha256"] = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in manifest["sha256"]
    }
    path.write_text(json.dumps(manifest))


def short(value: object) -> str:
    """A value in a few characters."""
    if isinstance(value, int) and abs(value) > 2**64:
        return "10^400" if value > 0 else "-10^400"
    return f"{value!a:.20}"
