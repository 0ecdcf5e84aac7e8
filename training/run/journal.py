"""The run log: one JSON object on each line, readable during the run. Imports no torch."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from transformer import errors
from transformer.files import atomic, reading
from transformer.files.documents import DocumentError, from_json, parse_json

Record: TypeAlias = dict[str, float | int | str]

LOG = "run.jsonl"  # in the folder of a run
MAX_STEP = 10**12  # of a record; whatever counts steps lies below
MAX_LINE = 10_000  # characters of a record: one that a run writes has some 200
# measured in an update: the step of the record counts from 1
MEASURED = ("loss", "lr", "tokens_per_second", "validation_loss")
_FORMS: dict[str, Any] = {
    **dict.fromkeys(("step", "cooldown"), Annotated[int, 0, MAX_STEP]),
    **dict.fromkeys(("d_model", "warmup", "steps"), Annotated[int, 1, MAX_STEP]),
    **dict.fromkeys(
        ("lr_factor", "validation_perplexity"),
        Annotated[float, sys.float_info.min, sys.float_info.max],
    ),
    **dict.fromkeys((*MEASURED, "seconds", "validation_bleu"), float),
}


class RunLogError(errors.HeadlightError):
    """A run log that cannot be read, or a line of it."""


@dataclass(frozen=True)
class Log:
    """Records of a run log, and what is wrong with each other line, by its number from 1."""

    records: tuple[Record, ...]
    wrong: dict[int, str]


class RunLog:
    """Appends records to `run.jsonl`; those after a step are removed."""

    def __init__(self, path: Path, after_step: int = 0) -> None:
        self.path, self._step = path, after_step
        records = [record for record in read(path) if int(record["step"]) <= after_step]
        # replaced atomically: a run that is killed at this moment must not lose its log
        atomic.write_file(path, "".join(_line(record) for record in records).encode())

    def write_plan(self, planned: Record) -> None:
        """Say how the run is planned, unless the log says just this already."""
        logged = plan(read(self.path))
        if planned != {name: value for name, value in logged.items() if name != "step"}:
            self.write(step=self._step, **planned)

    def write(self, **record: float | int | str) -> None:
        """Append one record; `step` belongs in each."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(record))


def read(path: Path) -> list[Record]:
    """Read all complete records; an unfinished last line is left out."""
    if not path.exists():
        return []
    log = parse(_content(path, sys.maxsize))
    for number, why in log.wrong.items():
        raise RunLogError(
            f"Line {number} of {path} is not a record of a run, {why}: delete the line, or restore "
            f"an earlier copy of the file."
        )
    return list(log.records)


def read_foreign(path: Path, *, max_bytes: int, max_lines: int) -> Log:
    """Read an untrusted log of limited size: its records, and an error for each invalid line."""
    content = _content(path, max_bytes)
    if (lines := content.count(b"\n")) > max_lines:
        raise RunLogError(
            f"{path.name} has {lines:,} lines, and up to {max_lines:,} are read: log less often."
        )
    return parse(content)


def parse(content: bytes) -> Log:
    """Parse the records of a log line by line; an unfinished last line is ignored."""
    whole = content[: content.rfind(b"\n") + 1].decode("utf-8", errors="replace")
    records, wrong = [], {}
    for number, line in enumerate(whole.split("\n"), start=1):
        if line := line.strip():
            try:
                records.append(_record(line))
            except RunLogError as error:
                wrong[number] = str(error)
    return Log(tuple(records), wrong)


def plan(records: Sequence[Record]) -> Record:
    """Return the last planned schedule, which a resumed run may change; empty if there is none."""
    return next((record for record in reversed(records) if "steps" in record), {})


def _content(path: Path, max_bytes: int) -> bytes:
    with (
        errors.reading(path.name, RunLogError),
        reading.open_bounded(path, max_bytes) as (file, size),
    ):
        return file.read(size)  # what a run adds at this moment comes with the next look


def _record(line: str) -> Record:
    if len(line) > MAX_LINE:
        raise RunLogError(f"with {len(line):,} characters")
    try:
        record: Record = from_json(Mapping[str, Any], parse_json(line))
        if not record.get("step") and not record.keys().isdisjoint(MEASURED):
            raise DocumentError("does not say the step, which counts from 1")
        for name, value in {"step": None, **record}.items():
            from_json(_FORMS.get(name, str if isinstance(value, str) else float), value, name)
    except DocumentError as error:
        raise RunLogError(f"it {error}") from error
    return record


def _line(record: Record) -> str:
    return json.dumps(record) + "\n"
