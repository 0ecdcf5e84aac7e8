"""Answers of students to a lesson: a file of each, and the teacher's table of all.

A file is JSON. Its last field is the SHA-256 of all others, which shows that a file was changed
by accident or by hand. It is no proof: anyone can compute it with this module.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pandas as pd

from transformer.errors import InputError, reading
from transformer.files.documents import DocumentError, from_json, parse_json
from transformer.files.reading import MIB, read_bytes
from viz.lessons.lesson import Lesson

MAX_BYTES = MIB  # largest size of an answers file
MAX_NAME = 100  # largest number of characters of a student's name


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
    reader: Annotated[str, 1, MAX_NAME]  # name that the student typed, which a terminal may show
    answers: tuple[GivenAnswer | None, ...]  # by card; None where the student gave none
    format: Annotated[int, 1, 1] = 1

    @property
    def right(self) -> int:
        """The number of right answers."""
        return sum(given is not None and given.right for given in self.answers)


def write_answers(answers: Answers) -> bytes:
    """Format answers as a file."""
    fields = asdict(answers)
    return json.dumps({**fields, "sha256": _checksum(fields)}, indent=1).encode()


def read_answers(path: Path) -> Answers:
    """Read an answers file."""
    try:
        with reading(path, InputError):
            fields = parse_json(read_bytes(path, MAX_BYTES))
        answers: Answers = from_json(Answers, fields)
    except DocumentError as error:
        raise InputError(f"{path} {error}: ask its reader to download it again.") from None
    if fields.pop("sha256", None) != _checksum(fields):
        raise InputError(
            f"{path} was changed after its download: ask its reader to download it again."
        )
    return answers


def _checksum(fields: dict[str, Any]) -> str:
    return sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def misfit(answers: Answers, lesson: Lesson) -> str:
    """Return why answers cannot stand in the table of a lesson, or ""."""
    if answers.lesson != lesson.name:
        return f"is of another lesson, {answers.lesson!r}."
    same_cards = len(answers.answers) == len(lesson.cards)
    if answers.lesson_sha256 != lesson.checksum or not same_cards:
        return f"is of another version of the lesson {lesson.name!r}."
    return ""


def answers_table(lesson: Lesson, students: Sequence[Answers]) -> pd.DataFrame:
    """Return a row for each student: name, right answers, and a mark for each question."""
    questions = [number for number, card in enumerate(lesson.cards) if card.ask]
    rows = []
    for student in students:
        given = [student.answers[number] for number in questions]
        marks = ["–" if answer is None else "✓" if answer.right else "✗" for answer in given]
        rows.append([student.reader, student.right, len(questions), *marks])
    cards = [f"card {number + 1}" for number in questions]
    return pd.DataFrame(rows, columns=["name", "right", "questions", *cards])
