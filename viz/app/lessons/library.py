"""The lessons that the app offers: the bundled ones and a teacher's own."""

import logging
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from transformer.errors import one_line
from transformer.files.installed import ASSETS
from viz.app.cache.memory import memo, state_of_file
from viz.app.chrome.problems import without_paths
from viz.lessons import Lesson, LessonError, read_lesson

_LOG = logging.getLogger(__name__)

LESSONS_VARIABLE = "HEADLIGHT_LESSONS"
"""Environment variable that names a folder of lesson files."""
BUNDLED_LESSONS = ASSETS / "lessons"
MAX_LESSONS = 100
"""Largest number of lessons from a teacher's folder."""


class Library(NamedTuple):
    """Lessons by the name of their file, and a sentence on each file that is none."""

    lessons: dict[str, Lesson]
    problems: list[str]


def offered() -> Library:
    """Read all lessons; a teacher's lesson replaces a bundled one of the same name."""
    lessons: dict[str, Lesson] = {}
    problems: list[str] = []
    folder = os.environ.get(LESSONS_VARIABLE) or None
    if folder is not None and not os.path.isdir(folder):  # noqa: PTH112  # raises nothing
        problems.append(f"{LESSONS_VARIABLE} names no folder on this server.")
        folder = None
    for path in _files(folder):
        lesson = memo(("lesson", str(path), state_of_file(path)), partial(_read, path))
        if isinstance(lesson, Lesson):
            lessons[path.stem] = lesson
        else:
            problems.append(without_paths(lesson))
    return Library(lessons, problems)


def _files(folder: str | None) -> Iterator[Path]:
    yield from sorted(BUNDLED_LESSONS.glob("*.md"))
    if folder is not None:
        yield from sorted(Path(folder).glob("*.md"))[:MAX_LESSONS]


def _read(path: Path) -> Lesson | str:
    """Read a lesson, or return a sentence on its problem; cached either way."""
    try:
        return read_lesson(path)
    except LessonError as error:
        return str(error)
    except Exception:  # noqa: BLE001  one file takes the first page from nobody
        _LOG.exception("%s", path)
        name = one_line(path.name)
        return f"{name} cannot be read as a lesson: the log of this server says why."
