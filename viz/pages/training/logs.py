"""Logs of runs, read within bounds and cached until they change."""

from __future__ import annotations

from pathlib import Path

from training.run.journal import Log, read_foreign
from viz.app.cache.memory import memo, state_of_file

MAX_BYTES, MAX_LINES = 16 * 2**20, 50_000
"""Largest log that the page reads: 2.5 million steps with every fiftieth logged."""


def load(path: Path) -> Log:
    """Read the records of one log, and the problems of its other lines.

    Raises:
        RunLogError: if the file cannot be read, or is larger than the page reads.
    """
    return memo(
        ("run log", path, state_of_file(path)),
        lambda: read_foreign(path, max_bytes=MAX_BYTES, max_lines=MAX_LINES),
    )


def complaint(name: str, log: Log) -> str | None:
    """Describe the invalid lines of a run's log; None without any."""
    if not log.wrong:
        return None
    number, reason = next(iter(log.wrong.items()))
    others = len(log.wrong) - 1
    plural = f", and neither {'is' if others == 1 else 'are'} {others:,} more" if others else ""
    rest = "the other lines are drawn" if log.records else "nothing of it can be drawn"
    return f"{name}: line {number:,} of run.jsonl is no record of a run ({reason}){plural}; {rest}."
