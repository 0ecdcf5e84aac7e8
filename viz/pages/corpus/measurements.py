"""Measured lines and the means of all heads over them, in the memo."""

from collections.abc import Hashable
from hashlib import sha256
from typing import NamedTuple

from transformer.analysis.heads.head import Head
from transformer.corpus.measured import (
    COST,
    HeadMeans,
    MeasuredLines,
    head_means,
)
from transformer.errors import InputError
from viz.app.cache import memory

COMMAND = "headlight evaluate lines"

TOO_LARGE = (
    f"Your measured lines are too large for this server's memory: use fewer lines, or run "
    f"{COMMAND}."
)


class Measured(NamedTuple):
    """Measured lines with their key in the memo."""

    key: Hashable
    lines: MeasuredLines


def key_of(*parts: object) -> str:
    """Return the key of what was measured: a digest of the model, the lines and the options."""
    return sha256(repr(parts).encode(errors="replace")).hexdigest()


def remember(key: str, lines: MeasuredLines) -> None:
    """Put measured lines and their means into the memo, from any thread."""
    memory.memo(_name(key), lambda: lines)
    if remembered(key) is None:
        raise InputError(TOO_LARGE)
    means_of(Measured(key, lines))


def remembered(key: str) -> MeasuredLines | None:
    """Return the lines of a key; None where the memo no longer has them."""
    lines: MeasuredLines | None = memory.recall(_name(key))
    return lines


def lines_of(key: str) -> MeasuredLines:
    """Return the lines of a key, for files that are made on a click."""
    if (lines := remembered(key)) is None:
        raise InputError("The server no longer has this measurement: measure the lines again.")
    return lines


def means_of(measured: Measured) -> HeadMeans:
    """Return the means of all heads over the lines, computed once."""
    return memory.memo(("head means", measured.key), lambda: head_means(measured.lines))


def first_head(measured: Measured) -> Head:
    """Return the head of cross-attention that a page opens on: the costliest, or the surest."""
    lines, means = measured.lines, means_of(measured)
    values = means.values[COST if COST in means.values else "confidence"].value
    cross = [column for column, head in enumerate(lines.heads) if head.kind == "cross"]
    return lines.heads[max(cross, key=lambda column: float(values[column]))]


def _name(key: str) -> tuple[str, str]:
    return "measured lines", key
