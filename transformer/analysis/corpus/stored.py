"""Figures that were measured of a checkpoint and are stored beside it as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from transformer.checkpoints.checkpoint import MANIFEST, MOST_BYTES_OF_JSON, WEIGHTS
from transformer.checkpoints.marian import is_marian
from transformer.checkpoints.marian.weights import MOST_BYTES, weights_path
from transformer.errors import CheckpointError, unreadable
from transformer.files.reading import read_bytes, sha256_of

MOST_LETTERS = 2_000
"""Of a text in such a file."""

Report = TypeVar("Report")


class Figure(NamedTuple):
    """One figure with its 95 % bootstrap interval over the sentences."""

    value: float
    low: float
    high: float


def read_json(
    path: Path, at_most: int, parse: Callable[[Any], Report], measure: str
) -> Report | None:
    """Read and parse a file beside a checkpoint; None where there is none.

    Args:
        path: the file.
        at_most: bytes that it may have.
        parse: raises ValueError, TypeError or KeyError on what it cannot use.
        measure: the command that writes such a file.

    Raises:
        CheckpointError: if it cannot be read or parsed.
    """
    if not path.exists():
        return None
    try:
        return parse(json.loads(read_bytes(path, at_most)))
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise CheckpointError(
            f"{path} is no report that this version wrote: run {measure} again."
        ) from error


def checksum_of_weights(folder: Path) -> str:
    """SHA-256 of the weights, as the manifest of a checkpoint of ours has it."""
    if is_marian(folder):
        return sha256_of(weights_path(folder), MOST_BYTES)
    manifest = json.loads(read_bytes(folder / MANIFEST, MOST_BYTES_OF_JSON))
    return str(manifest["sha256"][WEIGHTS])


def require_same_weights(path: Path, weights: str, measure: str) -> None:
    """Make sure that a report belongs to the checkpoint beside it.

    Raises:
        CheckpointError: if it was measured on other weights.
    """
    try:
        own = checksum_of_weights(path.parent)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(
            f"{path.parent} has no manifest of ours beside {path.name}: copy the folder again."
        ) from error
    if own != weights:
        raise CheckpointError(f"{path} was measured on other weights: run {measure} again.")


def rounded(values: Iterable[float]) -> list[float]:
    """Six digits: far more than a sample of sentences gives."""
    return [float(f"{value:.6g}") for value in values]


def figure(values: Any) -> Figure:
    """Check a figure with its bounds."""
    value, low, high = map(number, values)
    return Figure(value, low, high)


def number(value: Any) -> float:
    """Check a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("no number")
    return float(value)


def whole(value: Any) -> int:
    """Check a whole number of bounded size."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 2**31:
        raise ValueError("no whole number")
    return value


def count(value: Any) -> int:
    """Check a whole number from 0 on."""
    if whole(value) < 0:
        raise ValueError("no count")
    return int(value)


def text(value: Any) -> str:
    """Check a text of bounded length."""
    if not isinstance(value, str) or len(value) > MOST_LETTERS:
        raise ValueError("no text")
    return value
