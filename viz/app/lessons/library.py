"""The lessons that the app offers: those that come with it, and a teacher's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from transformer.files.installed import ASSETS
from viz.app.cache.memory import memo, state_of_file
from viz.app.chrome.problems import without_paths
from viz.lessons import Lesson, LessonError, read_lesson

LESSONS_VARIABLE = "HEADLIGHT_LESSONS"
"""Environment variable that names a folder of lesson files."""
BUNDLED_LESSONS = ASSETS / "lessons"
MAX_LESSONS = 100
"""Largest number of files that are offered of a teacher's folder."""


class Library(NamedTuple):
    """Lessons by the name of their file, and a sentence on each file that is none."""

    lessons: dict[str, Lesson]
    problems: list[str]


def offered() -> Library:
    """Read all lessons; a teacher's lesson replaces a bundled one of the same name."""
    lessons: dict[str, Lesson] = {}
    problems: list[str] = []
    folder = os.environ.get(LESSONS_VARIABLE)
    if folder is not None and not os.path.isdir(folder):  # noqa: PTH112  # raises nothing
        problems.append(f"{LESSONS_VARIABLE} names no folder on this server.")
    for path in _files(folder):
        try:
            key = "lesson", str(path), state_of_file(path)
            lessons[path.stem] = memo(key, partial(read_lesson, path))
        except LessonError as error:
            problems.append(without_paths(error))
    return Library(lessons, problems)


def _files(folder: str | None) -> Iterator[Path]:
    yield from sorted(BUNDLED_LESSONS.glob("*.md"))
    if folder is not None:
        yield from sorted(Path(folder).glob("*.md"))[:MAX_LESSONS]
