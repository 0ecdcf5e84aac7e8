"""Answers of students to a lesson: a file of each, and the teacher's table of all.

A file is JSON. Its last field is the SHA-256 of all others, which shows that a file was changed
by accident or by hand. It is not a proof: anyone can compute it with this module.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pandas as pd

from transformer.errors import InputError, one_line, reading, shortened
from transformer.files.documents import DocumentError, from_json, parse_json
from transformer.files.reading import MIB, read_bytes
from viz.draw.formatting import counted
from viz.lessons.grading import plain
from viz.lessons.lesson import Lesson
from viz.lessons.numbers import read_numbers

MAX_BYTES = MIB  # largest size of an answers file
MAX_NAME = 100  # largest number of characters of a student's name


class Try(NamedTuple):
    """An answer that a student gave, with its verdict."""

    given: str
    right: bool


class GivenAnswer(NamedTuple):
    """All that a student gave to a card."""

    task: str  # what the card asks, as `Lesson.tasks` names it
    answer: str  # the right one
    tries: tuple[Try, ...]
    shown: bool  # whether the student asked for the answer

    @property
    def right(self) -> bool:
        """The verdict: the last try was right, and the answer had not been shown."""
        return not self.shown and bool(self.tries) and self.tries[-1].right

    @property
    def mark(self) -> str:
        """The mark in the teacher's table, with the number of tries where they are several."""
        mark = "✓" if self.right else "?" if self.shown else "✗" if self.tries else "–"
        return f"{mark}{len(self.tries)}" if len(self.tries) > 1 else mark


@dataclass(frozen=True)
class Answers:
    """Answers of a student to a lesson."""

    lesson: str  # name of the lesson
    lesson_sha256: str  # of the lesson file
    sentence: str  # the sentence that the last answer was about, or ""
    model: str  # name of the model
    model_sha256: str  # of the manifest of its checkpoint, or ""
    reader: Annotated[str, 1, MAX_NAME]  # name that the student typed, which a terminal may show
    answers: tuple[GivenAnswer, ...]  # to the cards that were tried
    format: Annotated[int, 2, 2] = field(default=2, kw_only=True)

    @property
    def right(self) -> int:
        """The number of right answers."""
        return sum(given.right for given in self.answers)

    @property
    def at_once(self) -> int:
        """The number of answers that were right at the first try."""
        return sum(given.right and len(given.tries) == 1 for given in self.answers)

    def is_before(self, other: "Answers") -> bool:
        """Return whether the same student has gone on to `other`, or has downloaded it twice."""
        later = {given.task: given for given in other.answers}
        return (self.lesson, self.reader) == (other.lesson, other.reader) and all(
            (after := later.get(given.task)) is not None
            and after.tries[: len(given.tries)] == given.tries
            and after.shown >= given.shown
            for given in self.answers
        )


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


def file_name(lesson: str, reader: str) -> str:
    """Name the file of a student's answers."""
    name = "-".join("".join(c if c.isalnum() else " " for c in reader).split())
    return f"{lesson}-{name[:40] or 'answers'}.json"


def misfit(answers: Answers, lesson: Lesson) -> str:
    """Return why answers cannot stand in the table of a lesson, or ""."""
    if answers.lesson != lesson.name:
        return f"is of another lesson, {answers.lesson!r}."
    tasks = [given.task for given in answers.answers]
    if len(set(tasks)) < len(tasks):
        return "has two answers to a card."
    if answers.lesson_sha256 != lesson.checksum and set(lesson.tasks).isdisjoint(tasks):
        return f"is of another version of the lesson {lesson.name!r}."
    return ""


def find_outdated(files: Mapping[Path, Answers]) -> Iterator[tuple[Path, Path]]:
    """Yield each file that is the copy or an earlier state of another, with that file."""
    others = dict(files)
    for path, answers in files.items():
        for other, later in others.items():
            if other != path and answers.is_before(later):
                yield path, other
                del others[path]
                break


def answers_table(lesson: Lesson, students: Sequence[Answers]) -> pd.DataFrame:
    """Return a row for each student: name, right answers, and mark and answer of each question."""
    questions = [number for number, card in enumerate(lesson.cards) if card.ask]
    names = [f"card {number + 1}" for number in questions]
    rows = []
    for student in students:
        by_task = {given.task: given for given in student.answers}
        given = [by_task.get(lesson.tasks[n], GivenAnswer("", "", (), False)) for n in questions]
        right = sum(answer.right for answer in given)
        marks = [answer.mark for answer in given]
        typed = [" | ".join(a_try.given for a_try in answer.tries) for answer in given]
        rows.append([student.reader, right, len(questions), *marks, *typed])
    columns = ["name", "right", "questions", *names, *(f"{name} given" for name in names)]
    return pd.DataFrame(rows, columns=columns)


def card_summaries(lesson: Lesson, students: Sequence[Answers]) -> Iterator[str]:
    """Yield a sentence on each question: how many were right, and the most frequent mistake."""
    for number, card in enumerate(lesson.cards):
        if not card.ask:
            continue
        task = lesson.tasks[number]
        given = [
            answer for student in students for answer in student.answers if answer.task == task
        ]
        firsts = sum(answer.right and len(answer.tries) == 1 for answer in given)
        parts = [
            f"{sum(answer.right for answer in given)} of {len(students)} right",
            f"{firsts} at the first try",
        ]
        if shown := sum(answer.shown for answer in given):
            parts.append(f"shown to {shown}")
        mistakes = [_mistakes(answer) for answer in given]
        counts = Counter(key for made in mistakes for key in made)
        if counts:
            ((key, count),) = counts.most_common(1)
            # any file can have any text: what a terminal obeys is taken out
            text = shortened(one_line(next(made[key] for made in mistakes if key in made)), 60)
            parts.append(f"most frequent mistake “{text}” ({counted(count, 'student')})")
        yield f"card {number + 1}: {', '.join(parts)}"


def _mistakes(answer: GivenAnswer) -> dict[object, str]:
    """Return each wrong try of a student once, by its number or word."""
    wrong = [a_try.given for a_try in answer.tries if not a_try.right]
    return {read_numbers(text)[:1] or plain(text): text for text in wrong}
