"""Table of the answers of many students to one lesson, as text and as CSV."""

from pathlib import Path

import pandas as pd

from viz.lessons.answers import Answers
from viz.lessons.lesson import Lesson
from viz.trace_files import csv_bytes


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
