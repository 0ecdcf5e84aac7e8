"""Removed, painted and patched heads, and their text in a link: `c1.3,e2.0u,c0.1p9x8_2-0.3,d0.0z`.

The text extends that of `transformer.analysis.heads.removal_text` by three endings: `p9x8_2-0.3`
for rows painted on a map of 9 × 8 (row 2 looks evenly at keys 0 and 3), `z` and `w` for the output
or the weights of the head on the second sentence. All numbers count from 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from transformer import AttentionTrace, HeadlightError, Transformer
from transformer.analysis.corpus.head_report import COMMAND
from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.heads.removal import Pattern, Removal, painted
from transformer.analysis.heads.removal_text import format_removals, parse_removals
from transformer.errors import InputError
from transformer.kinds import Kind
from transformer.traces.fields import Weights
from viz.draw.labels import head_title

How = Literal["zero", "uniform", "mean", "rows", "pattern", "z", "weights"]
"""Replacement of a head: `pattern` is a complete map, which only a link can set."""

Rows = tuple[tuple[int, tuple[int, ...]], ...]
"""Painted rows in ascending order, each with its keys."""

_ENDINGS: dict[str, How] = {"z": "z", "w": "weights"}
_EXTENDED = re.compile(
    r"([edc][0-9]{1,4}\.[0-9]{1,4})(?:([zw])|"
    r"p([0-9]{1,4})x([0-9]{1,4})((?:_[0-9]{1,4}-[0-9]{1,4}(?:\.[0-9]{1,4}){0,511}){1,512}))",
    re.ASCII,
)


@dataclass(frozen=True)
class Change:
    """One removed, painted or patched head.

    Args:
        head: the head.
        how: its replacement.
        rows: painted rows, for "rows".
        shape: numbers of queries and keys of the map on which they were painted.
        pattern: the complete map, for "pattern".
    """

    head: Head
    how: How = "zero"
    rows: Rows = ()
    shape: tuple[int, int] = (0, 0)
    pattern: Pattern | None = None

    @property
    def name(self) -> str:
        """Name on the screen, such as `L3 H5 · cross`."""
        return head_title(*self.head)


def format_changes(changes: Sequence[Change]) -> str:
    """Format changes as the text of a link, in their order."""
    return ",".join(map(_format, changes))


def parse_changes(text: str, model: Transformer | None) -> tuple[list[Change], str]:
    """Parse the text of a link into changes, and name the first problem, or "".

    Args:
        text: text of the link.
        model: the model that must have the heads, each named once; None skips this check.
    """
    changes: list[Change] = []
    problem = ""
    for part in text.split(",") if text.strip() else ():
        try:
            change = _parse(part.strip())
            if model is not None:
                require_heads(model, [*(earlier.head for earlier in changes), change.head])
        except HeadlightError as error:
            problem = problem or f"{error} It is left out here."
            continue
        changes.append(change)
    return changes, problem


def toggle_head(changes: Sequence[Change], head: Head, how: How) -> list[Change]:
    """Return the changes with a head removed, or restored if it was changed."""
    remaining = [change for change in changes if change.head != head]
    return remaining if len(remaining) < len(changes) else [*remaining, Change(head, how)]


def paint_row(
    changes: Sequence[Change],
    head: Head,
    shape: tuple[int, int],
    row: int,
    keys: Sequence[int],
) -> list[Change]:
    """Return the changes with one row of a head painted; without keys the row is restored."""
    before = next((change for change in changes if change.head == head), None)
    rows = dict(before.rows) if before and before.shape == shape else {}
    rows.pop(row, None)
    if keys:
        rows[row] = tuple(sorted(keys))
    change = Change(head, "rows", tuple(sorted(rows.items())), shape)
    if before is None:
        return [*changes, change] if rows else list(changes)
    return [
        change if other is before else other for other in changes if other is not before or rows
    ]


def fitting_changes(
    changes: Sequence[Change],
    trace: AttentionTrace,
    donor: AttentionTrace | None,
    *,
    measured: bool,
) -> tuple[list[Change], str]:
    """Select the changes that fit this sentence, and name the first problem, or "".

    Args:
        changes: the changes of a link.
        trace: trace of the sentence.
        donor: trace of the second sentence, where there is one.
        measured: whether the mean output of each head is known.
    """
    fitting: list[Change] = []
    problem = ""
    for change in changes:
        try:
            _require_fitting(change, trace, donor)
            if change.how == "mean" and not measured:
                raise InputError(
                    f"The mean output of {change.name} over a corpus was not measured for this "
                    f"model: run {COMMAND}, or choose another way."
                )
            fitting.append(change)
        except InputError as error:
            problem = problem or str(error)
    return fitting, problem


def to_removal(change: Change, trace: AttentionTrace, donor: AttentionTrace | None) -> Removal:
    """Convert a fitting change other than "z" into a removal."""
    if change.how == "weights":
        assert donor is not None  # checked by `fitting_changes`
        return painted(change.head, _map(donor, change.head))
    if change.how == "rows":
        return painted(change.head, painted_map(change.rows, _map(trace, change.head)))
    return _removal(change)


def painted_map(rows: Rows, weights: Weights) -> Weights:
    """Return a map `[query, key]` with some rows painted: each looks evenly at its keys."""
    weights = weights.copy()
    for row, keys in rows:
        weights[row] = 0
        weights[row, list(keys)] = 1 / len(keys)
    return weights


def _map(trace: AttentionTrace, head: Head) -> Weights:
    weights: Weights = trace.weights(head.kind)[head.layer, head.head]
    return weights


def _removal(change: Change) -> Removal:
    """Convert a change that the analysis package supports."""
    assert change.how in ("zero", "uniform", "mean", "pattern")
    return Removal(*change.head, how=change.how, pattern=change.pattern)


def _format(change: Change) -> str:
    if change.how in ("zero", "uniform", "mean", "pattern"):
        return format_removals([_removal(change)])
    name = format_removals([Removal(*change.head)])
    if change.how != "rows":
        return name + next(letter for letter, how in _ENDINGS.items() if how == change.how)
    rows = (f"_{row}-{'.'.join(map(str, keys))}" for row, keys in change.rows)
    return f"{name}p{change.shape[0]}x{change.shape[1]}{''.join(rows)}"


def _parse(part: str) -> Change:
    """Parse one change, or raise InputError."""
    match = _EXTENDED.fullmatch(part)
    (removal,) = parse_removals(match[1] if match else part) or (None,)
    if removal is None:
        raise InputError("The list of heads has a comma too many.")
    change = Change(removal.place, removal.how, pattern=removal.pattern)
    if match is None:
        return change
    _, ending, queries, keys, painted_rows = match.groups()
    if ending:
        return replace(change, how=_ENDINGS[ending])
    rows: dict[int, tuple[int, ...]] = {}
    for text in painted_rows.split("_")[1:]:
        row, key_texts = text.split("-")
        rows[int(row)] = tuple(sorted({int(key) for key in key_texts.split(".")}))
    change = Change(removal.place, "rows", tuple(sorted(rows.items())), (int(queries), int(keys)))
    _require_within(change)
    return change


def _require_within(change: Change) -> None:
    queries, keys = change.shape
    for row, row_keys in change.rows:
        last = row if change.head.kind == "decoder_self" else keys - 1
        if row >= queries or row_keys[-1] > last:
            raise InputError(
                f"The painted row {row} of {change.name}, from 0, looks at key {row_keys[-1]}, "
                f"which a map of {queries} × {keys} does not have or its mask hides: paint it "
                f"again."
            )


def _require_fitting(change: Change, trace: AttentionTrace, donor: AttentionTrace | None) -> None:
    kind: Kind = change.head.kind
    rows, columns = trace.weights(kind).shape[2:]
    if change.how in ("rows", "pattern"):
        shape = np.shape(change.pattern) if change.pattern else change.shape
        if tuple(shape) != (rows, columns):
            raise InputError(
                f"The painted map of {change.name} is {shape[0]} × {shape[1]}, and on this "
                f"sentence it is {rows} × {columns}: it is left out until you paint it again."
            )
    if change.how in ("z", "weights"):
        if donor is None:
            raise InputError(
                f"{change.name} is patched from a second sentence, and there is none: type one."
            )
        donor_shape = donor.weights(kind).shape[2:]
        if donor_shape != (rows, columns):
            raise InputError(
                f"The map of {change.name} is {donor_shape[0]} × {donor_shape[1]} on the second "
                f"sentence and {rows} × {columns} on this one: a patch needs as many pieces in "
                f"both."
            )
