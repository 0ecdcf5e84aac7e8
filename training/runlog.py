"""The run log: one JSON object a line, readable while the run goes on. Imports no torch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

Record: TypeAlias = dict[str, float | int | str]


class RunLog:
    """Appends records to `run.jsonl`.

    Args:
        path: the file; made if it is not there.
        after_step: drop what an interrupted run wrote after this step.
    """

    def __init__(self, path: Path, after_step: int = 0) -> None:
        self.path = path
        kept = [record for record in read(path) if int(record["step"]) <= after_step]
        # in one move: a run that is killed just here must not lose what it has logged
        new = path.with_name(path.name + ".new")
        new.write_text("".join(_line(record) for record in kept), "utf-8")
        new.replace(path)

    def write(self, **record: float | int | str) -> None:
        """Append one record; `step` belongs in each."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(record))


def read(path: Path) -> list[Record]:
    """All whole records; a last line that is still being written is left for the next time.

    Raises:
        ValueError: naming the line that is no record.
    """
    if not path.exists():
        return []
    text = path.read_text("utf-8", errors="replace")
    whole = text[: text.rfind("\n") + 1]
    lines = enumerate(whole.splitlines(), start=1)
    return [_record(path, number, line) for number, line in lines if line]


def plan(records: Sequence[Record]) -> Record:
    """What the run last said that it intended; empty where the log does not say.

    `steps` and `cooldown` may change when a run is resumed; what it intends is written again then.
    """
    return next((record for record in reversed(records) if "steps" in record), {})


def _record(path: Path, number: int, line: str) -> Record:
    found: object = None
    with suppress(ValueError):
        found = json.loads(line)
    if not isinstance(found, dict) or not isinstance(found.get("step"), int):
        raise ValueError(
            f"Line {number} of {path} is no record of a run: take the line out, or the file of an "
            f"earlier copy."
        )
    return found


def _line(record: Record) -> str:
    return json.dumps(record) + "\n"
