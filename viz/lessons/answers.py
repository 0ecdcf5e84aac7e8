"""Answers of students to a lesson: a file of each, and the teacher's table of all.

A file is JSON. Its last field is the SHA-256 of all others, which shows that a file was changed
by accident or by hand. It is no proof: anyone can compute it with this module.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from transformer.errors import InputError, unreadable
from transformer.files.reading import MIB, read_bytes
from viz.lessons.lesson import Lesson
from viz.lessons.reading import MAX_CARDS
from viz.trace_files import csv_bytes

FORMAT = 1
MAX_BYTES = MIB
"""Largest size of an answers file."""
MAX_NAME, MAX_TEXT = 100, 10_000
"""Largest number of characters of a student's name, and of each other text."""

_CHECKSUM = 64  # digits of a SHA-256


class GivenAnswer(NamedTuple):
    """An answer that a student gave, the right one, and whether they agree."""

    given: str
    answer: str
    right: bool


@dataclass(frozen=True)
class Answers:
    """Answers of a student to a lesson."""

    lesson: str  # name of the lesson
    lesson_sha256: str  # of the lesson file
    sentence: str  # the sentence that the last answer was about, or ""
    model: str  # name of the model
    model_sha256: str  # of the manifest of its checkpoint, or ""
    reader: str  # name that the student typed
    answers: tuple[GivenAnswer | None, ...]  # by card; None where the student gave none

    @property
    def right(self) -> int:
        """The number of right answers."""
        return sum(given is not None and given.right for given in self.answers)


def write_answers(answers: Answers) -> bytes:
    """Format answers as a file."""
    fields = {"format": FORMAT, **asdict(answers)}
    return json.dumps({**fields, "sha256": _guard(fields)}, indent=1).encode()


def read_answers(path: Path) -> Answers:
    """Read an answers file."""
    try:
        content = read_bytes(path, MAX_BYTES)
    except OSError as error:
        raise InputError(unreadable(error, path)) from None
    try:
        fields = json.loads(content, object_pairs_hook=_unique)
        guard = fields.pop("sha256")
        answers = _answers(fields)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InputError(
            f"{path} is no answers file of this version: ask its reader to download it again."
        ) from None
    if guard != _guard(fields):
        raise InputError(
            f"{path} was changed after its download: ask its reader to download it again."
        )
    return answers


def _guard(fields: Mapping[str, object]) -> str:
    """Compute the checksum of the fields, sorted by name."""
    return sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a field is there twice")
    return dict(pairs)


def _answers(fields: dict[str, Any]) -> Answers:
    """Check every field; a wrong one raises an error that `read_answers` words."""
    _require(type(fields["answers"]) is list and 0 < len(fields["answers"]) <= MAX_CARDS)
    given = [None if values is None else _given(values) for values in fields["answers"]]
    texts = {name: fields[name] for name in fields if name not in ("format", "answers")}
    answers = Answers(**texts, answers=tuple(given))
    _require(type(fields["format"]) is int and fields["format"] == FORMAT)
    for text in texts.values():
        _require_text(text)
    # false for control characters and line ends, which a terminal would obey
    _require(answers.reader.isprintable() and 0 < len(answers.reader) <= MAX_NAME)
    _require(len(answers.lesson_sha256) == _CHECKSUM)
    return answers


def _given(fields: list[Any]) -> GivenAnswer:
    given = GivenAnswer(*fields)
    for text in (given.given, given.answer):
        _require_text(text)
    _require(type(given.right) is bool)
    return given


def _require_text(text: object) -> None:
    _require(isinstance(text, str) and len(text) <= MAX_TEXT)
    str(text).encode()  # half of a surrogate pair raises ValueError


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError


class Table:
    """A row for each student, and a column for each question of the lesson."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.questions = [number for number, card in enumerate(lesson.cards) if card.ask]
        self.rows: list[Answers] = []

    def add(self, answers: Answers, file: Path) -> str:
        """Add a student, or return a sentence on why the file is of no use here."""
        if answers.lesson != self.lesson.name:
            return f"{file} is of another lesson, {answers.lesson!r}."
        same_cards = len(answers.answers) == len(self.lesson.cards)
        if answers.lesson_sha256 != self.lesson.checksum or not same_cards:
            return f"{file} is of another version of the lesson {self.lesson.name!r}."
        self.rows.append(answers)
        return ""

    def lines(self) -> list[str]:
        """Format the table as text: name, number of right answers, and a mark by question."""
        width = max((len(row.reader) for row in self.rows), default=0)
        return [
            f"{row.reader:<{width}}  {row.right} of {len(self.questions)}  "
            + " ".join(self._marks(row))
            for row in self.rows
        ]

    def csv(self) -> bytes:
        """Format the table as CSV."""
        cards = [f"card {number + 1}" for number in self.questions]
        rows = [
            # a spreadsheet would compute what begins so
            ["'" * row.reader.startswith(("=", "+", "-", "@")) + row.reader,
             row.right, len(self.questions), *self._marks(row)]
            for row in self.rows
        ]  # fmt: skip
        return csv_bytes(pd.DataFrame(rows, columns=["name", "right", "questions", *cards]))

    def _marks(self, row: Answers) -> list[str]:
        given = [row.answers[number] for number in self.questions]
        return ["–" if answer is None else "✓" if answer.right else "✗" for answer in given]
