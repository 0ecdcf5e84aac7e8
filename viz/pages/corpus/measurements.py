"""Measured lines and the means of all heads over them, in the memo."""

from hashlib import sha256

from transformer.analysis.heads.head import Head
from transformer.corpus.measured import COST, MeasuredLines, head_means
from transformer.errors import InputError
from viz.app.cache import memory
from viz.app.view import cached

COMMAND = "headlight evaluate lines"

TOO_LARGE = (
    f"Your measured lines are too large for this server's memory: use fewer lines, or run "
    f"{COMMAND}."
)


def key_of(*parts: object) -> str:
    """Return the key of what was measured: a digest of the model, the lines and the options."""
    return sha256(repr(parts).encode(errors="replace")).hexdigest()


def remember(key: str, lines: MeasuredLines) -> None:
    """Put measured lines and their means into the memo, from any thread."""
    memory.memo(name_of(key), lambda: lines)
    if remembered(key) is None:
        raise InputError(TOO_LARGE)
    memory.memo((head_means, name_of(key)), lambda: head_means(lines))  # as a view computes them


def remembered(key: str) -> MeasuredLines | None:
    """Return the lines of a key; None where the memo no longer has them."""
    lines: MeasuredLines | None = memory.recall(name_of(key))
    return lines


def lines_of(key: str) -> MeasuredLines:
    """Return the lines of a key, for files that are made on a click."""
    if (lines := remembered(key)) is None:
        raise InputError("The server no longer has this measurement: measure the lines again.")
    return lines


def first_head(lines: MeasuredLines) -> Head:
    """Return the head of cross-attention that a page opens on: the costliest, or the surest."""
    means = cached(head_means, lines)
    values = means.values[COST if COST in means.values else "confidence"].value
    cross = [column for column, head in enumerate(lines.heads) if head.kind == "cross"]
    return lines.heads[max(cross, key=lambda column: float(values[column]))]


def name_of(key: str) -> tuple[str, str]:
    """Return the name of measured lines in the memo."""
    return "measured lines", key
