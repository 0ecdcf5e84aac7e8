"""Heads that are taken away or patched, as the link has them: `c1.3,e2.0u,c0.1p9x8_2-0.3,d0.0z`.

The notation of `transformer.analysis.heads.removal_text`, with three more endings: `p9x8_2-0.3`
for rows that were painted on a map of 9 × 8 (row 2 looks at keys 0 and 3, evenly), `z` and `w` for
the output z or the weights that the head has on the second sentence. All numbers count from 0.
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
from transformer.trace import Weights
from viz.app.problems import without_paths
from viz.draw.labels import head_title

How = Literal["zero", "uniform", "mean", "rows", "pattern", "z", "weights"]
"""What stands in the place of a head: `pattern` is a whole one, which only a link can name."""

Rows = tuple[tuple[int, tuple[int, ...]], ...]
"""Painted rows in their order, each with the keys that it looks at."""

_ENDINGS: dict[str, How] = {"z": "z", "w": "weights"}
_OURS = re.compile(
    r"([edc][0-9]{1,4}\.[0-9]{1,4})(?:([zw])|"
    r"p([0-9]{1,4})x([0-9]{1,4})((?:_[0-9]{1,4}-[0-9]{1,4}(?:\.[0-9]{1,4}){0,511}){1,512}))",
    re.ASCII,
)


@dataclass(frozen=True)
class Change:
    """One head that is taken away, or patched.

    Args:
        head: which.
        how: what stands in its place.
        rows: painted ones, for "rows".
        shape: queries and keys of the map on which they were painted.
        pattern: for "pattern".
    """

    head: Head
    how: How = "zero"
    rows: Rows = ()
    shape: tuple[int, int] = (0, 0)
    pattern: Pattern | None = None

    @property
    def name(self) -> str:
        """Such as `L3 H5 · cross`."""
        return head_title(*self.head)


def format_changes(changes: Sequence[Change]) -> str:
    """The text of a link, in the order of the heads' switching."""
    return ",".join(map(_format, changes))


def parse_changes(text: str, model: Transformer | None) -> tuple[list[Change], str]:
    """The heads that a link names, and what is wrong with the first that is left out, or "".

    Args:
        text: of the link.
        model: which has them, and each is named once; None leaves that open.
    """
    changes: list[Change] = []
    problem = ""
    for part in text.split(",") if text.strip() else ():
        try:
            change = _parse(part.strip())
            if model is not None:
                require_heads(model, [*(one.head for one in changes), change.head])
        except HeadlightError as error:
            problem = problem or f"{without_paths(error)} It is left out here."
            continue
        changes.append(change)
    return changes, problem


def switched(changes: Sequence[Change], head: Head, how: How) -> list[Change]:
    """The same with one head off, or on again if it was off."""
    others = [change for change in changes if change.head != head]
    return others if len(others) < len(changes) else [*others, Change(head, how)]


def with_row(
    changes: Sequence[Change],
    head: Head,
    shape: tuple[int, int],
    row: int,
    keys: Sequence[int],
) -> list[Change]:
    """The same with one row of a head painted; without keys the row is what it was."""
    before = next((change for change in changes if change.head == head), None)
    rows = dict(before.rows) if before and before.shape == shape else {}
    rows.pop(row, None)
    if keys:
        rows[row] = tuple(sorted(keys))
    change = Change(head, "rows", tuple(sorted(rows.items())), shape)
    if before is None:
        return [*changes, change] if rows else list(changes)
    return [change if one is before else one for one in changes if one is not before or rows]


def fitting_changes(
    changes: Sequence[Change],
    trace: AttentionTrace,
    donor: AttentionTrace | None,
    *,
    measured: bool,
) -> tuple[list[Change], str]:
    """The changes that fit this sentence, and what is wrong with the first that does not, or "".

    Args:
        changes: of a link.
        trace: of the sentence.
        donor: that of the second sentence, where there is one.
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
            problem = problem or without_paths(error)
    return fitting, problem


def removal_of(change: Change, trace: AttentionTrace, donor: AttentionTrace | None) -> Removal:
    """What a fitting change other than "z" is for the model."""
    if change.how == "weights":
        assert donor is not None  # it fits
        return painted(change.head, _map(donor, change.head))
    if change.how == "rows":
        return painted(change.head, painted_map(change.rows, _map(trace, change.head)))
    return _removal(change)


def painted_map(rows: Rows, weights: Weights) -> Weights:
    """A map `[query, key]` with some rows painted over: each looks evenly at its keys."""
    weights = weights.copy()
    for row, keys in rows:
        weights[row] = 0
        weights[row, list(keys)] = 1 / len(keys)
    return weights


def _map(trace: AttentionTrace, head: Head) -> Weights:
    weights: Weights = trace.weights(head.kind)[head.layer, head.head]
    return weights


def _removal(change: Change) -> Removal:
    """Of those ways that the model knows by themselves."""
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
    """Raise InputError if it is none."""
    match = _OURS.fullmatch(part)
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
    for one in painted_rows.split("_")[1:]:
        row, looked_at = one.split("-")
        rows[int(row)] = tuple(sorted({int(key) for key in looked_at.split(".")}))
    change = Change(removal.place, "rows", tuple(sorted(rows.items())), (int(queries), int(keys)))
    _require_within(change)
    return change


def _require_within(change: Change) -> None:
    queries, keys = change.shape
    for row, looked_at in change.rows:
        last = row if change.head.kind == "decoder_self" else keys - 1
        if row >= queries or looked_at[-1] > last:
            raise InputError(
                f"The painted row {row} of {change.name}, from 0, looks at key {looked_at[-1]}, "
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
        other = donor.weights(kind).shape[2:]
        if other != (rows, columns):
            raise InputError(
                f"The map of {change.name} is {other[0]} × {other[1]} on the second sentence and "
                f"{rows} × {columns} on this one: a patch needs as many pieces in both."
            )
