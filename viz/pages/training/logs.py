"""The logs of runs, read within bounds, and once as long as they do not change."""

from __future__ import annotations

from pathlib import Path

from training.run.journal import Log, read_foreign
from viz.app.cache.memory import memo, state_of_file

MAX_BYTES, MAX_LINES = 16 * 2**20, 50_000
"""Of a log that the page reads: 2.5 million steps, where each fiftieth is logged."""


def load(path: Path) -> Log:
    """The records of one log, and what is wrong with its other lines.

    Raises:
        RunLogError: if the file cannot be read, or is larger than the page reads.
    """
    return memo(
        ("run log", path, state_of_file(path)),
        lambda: read_foreign(path, max_bytes=MAX_BYTES, max_lines=MAX_LINES),
    )


def complaint(name: str, log: Log) -> str | None:
    """One sentence on the lines of a run's log that are no records; None where all are."""
    if not log.wrong:
        return None
    number, why = next(iter(log.wrong.items()))
    more = len(log.wrong) - 1
    others = f", and neither {'is' if more == 1 else 'are'} {more:,} more" if more else ""
    rest = "the other lines are drawn" if log.records else "nothing of it can be drawn"
    return f"{name}: line {number:,} of run.jsonl is no record of a run ({why}){others}; {rest}."
