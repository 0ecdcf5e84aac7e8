"""The run log: one JSON object on each line, readable during the run. Imports no torch."""

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
        path: the file; created if it does not exist.
        after_step: remove the records that an interrupted run wrote after this step.
    """

    def __init__(self, path: Path, after_step: int = 0) -> None:
        self.path = path
        records = [record for record in read(path) if int(record["step"]) <= after_step]
        # replaced atomically: a run that is killed at this moment must not lose its log
        new = path.with_name(path.name + ".new")
        new.write_text("".join(_line(record) for record in records), "utf-8")
        new.replace(path)

    def write(self, **record: float | int | str) -> None:
        """Append one record; `step` belongs in each."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(record))


def read(path: Path) -> list[Record]:
    """All complete records; a last line that is still being written is not one yet.

    Raises:
        ValueError: naming the line that is not a record.
    """
    if not path.exists():
        return []
    text = path.read_text("utf-8", errors="replace")
    whole = text[: text.rfind("\n") + 1]
    lines = enumerate(whole.splitlines(), start=1)
    return [_record(path, number, line) for number, line in lines if line]


def plan(records: Sequence[Record]) -> Record:
    """The last record of the planned schedule; empty if the log has none.

    `steps` and `cooldown` may change when a run is resumed; the plan is then written again.
    """
    return next((record for record in reversed(records) if "steps" in record), {})


def _record(path: Path, number: int, line: str) -> Record:
    found: object = None
    with suppress(ValueError):
        found = json.loads(line)
    if not isinstance(found, dict) or not isinstance(found.get("step"), int):
        raise ValueError(
            f"Line {number} of {path} is no record of a run: delete the line, or restore an "
            f"earlier copy of the file."
        )
    return found


def _line(record: Record) -> str:
    return json.dumps(record) + "\n"
