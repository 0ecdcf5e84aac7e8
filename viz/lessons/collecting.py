"""Answers of a class: the files that count, the teacher's table, and a summary of each card."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from transformer.errors import one_line, shortened
from viz.draw.formatting import counted
from viz.lessons.answers import Answers, GivenAnswer
from viz.lessons.grading import plain
from viz.lessons.lesson import Lesson
from viz.lessons.numbers import read_numbers
from viz.trace_files import csv_bytes


class Collected(NamedTuple):
    """The answers files of a school class, sorted."""

    students: list[Answers]
    notes: list[str]  # a sentence on each file that counts once or in part
    problems: list[str]  # a sentence on each file that is left out


def collect(files: Sequence[tuple[str, Answers]], lesson: Lesson) -> Collected:
    """Choose the answers to a lesson among files, each with its name."""
    collected = Collected([], [], [])
    fitting = []
    for name, answers in files:
        if problem := misfit(answers, lesson):
            collected.problems.append(f"{name} {problem}")
        else:
            fitting.append((name, answers))
    for number, (name, answers) in enumerate(fitting):
        if other := _later(fitting, number):
            note = f"{name} is a copy or an earlier state of {other}: it is counted once."
            collected.notes.append(note)
            continue
        collected.students.append(answers)
        if lost := {given.task for given in answers.answers} - set(lesson.tasks):
            changed = f"{counted(len(lost), 'card')} changed since and left out"
            collected.notes.append(f"{name} is of another version of the lesson: {changed}.")
    return collected


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


def _later(files: Sequence[tuple[str, Answers]], number: int) -> str:
    """Return the name of a file that a file is the copy or an earlier state of, or ""."""
    _, answers = files[number]
    for place, (name, other) in enumerate(files):
        if place == number or not answers.is_before(other):
            continue
        if place > number or not other.is_before(answers):  # of two that are the same: the last
            return name
    return ""


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


def csv_of(table: pd.DataFrame) -> bytes:
    """Format the table as CSV, in which a spreadsheet computes nothing."""
    return csv_bytes(table.replace(r"^(?=[=+@-])", "'", regex=True))


def cards_table(lesson: Lesson, students: Sequence[Answers]) -> pd.DataFrame:
    """Return a row for each question: how many were right, and the most frequent mistake."""
    rows = []
    for number, card in enumerate(lesson.cards):
        if not card.ask:
            continue
        task = lesson.tasks[number]
        given = [answer for s in students for answer in s.answers if answer.task == task]
        mistakes = [_mistakes(answer) for answer in given]
        counts = Counter(key for made in mistakes for key in made).most_common(1)
        key, count = counts[0] if counts else (None, 0)
        # any file can have any text: what a terminal obeys is taken out
        text = one_line(next((made[key] for made in mistakes if key in made), ""))
        at_once = sum(answer.right and len(answer.tries) == 1 for answer in given)
        right, shown = (sum(getattr(a, name) for a in given) for name in ("right", "shown"))
        rows.append([number + 1, right, at_once, shown, shortened(text, 60), count])
    columns = ["card", "right", "at the first try", "shown", "most frequent mistake", "made by"]
    return pd.DataFrame(rows, columns=columns)


def _mistakes(answer: GivenAnswer) -> dict[object, str]:
    """Return each wrong try of a student once, by its number or word."""
    wrong = [a_try.given for a_try in answer.tries if not a_try.right]
    return {read_numbers(text)[:1] or plain(text): text for text in wrong}
