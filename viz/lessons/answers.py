"""Answers of a student to a lesson, and their file; `collecting` has the table of all.

A file is JSON. Its last field is the SHA-256 of all others, which shows that a file was changed
by accident or by hand. It is not a proof: anyone can compute it with this module.
"""

import json
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from transformer.errors import InputError, reading
from transformer.files.documents import DocumentError, from_json, parse_json
from transformer.files.reading import MIB, read_bytes
from viz.lessons.reading import MAX_CARDS

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
        if (self.lesson, self.reader) != (other.lesson, other.reader):
            return False
        later = {given.task: given for given in other.answers}
        return all(
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
    with reading(path, InputError):
        content = read_bytes(path, MAX_BYTES)
    return parse_answers(str(path), content)


def parse_answers(name: str, content: bytes) -> Answers:
    """Read the content of an answers file, which errors call by a name."""
    try:
        if len(content) > MAX_BYTES:
            raise DocumentError(f"has {len(content):,} bytes, and at most {MAX_BYTES:,} are read")
        fields = parse_json(content)
        answers: Answers = from_json(Answers, fields)
        if (count := len(answers.answers)) > MAX_CARDS:
            raise DocumentError(f"has {count:,} answers, and a lesson at most {MAX_CARDS} cards")
        if fields.pop("sha256", None) != _checksum(fields):
            raise DocumentError("was changed after its download")
    except DocumentError as error:
        raise InputError(f"{name} {error}: ask the student to download it again.") from None
    return answers


def _checksum(fields: dict[str, Any]) -> str:
    return sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def file_name(lesson: str, reader: str) -> str:
    """Name the file of a student's answers."""
    name = "-".join("".join(c if c.isalnum() else " " for c in reader).split())
    return f"{lesson}-{name[:40] or 'answers'}.json"
