"""The lessons that the app offers, the bundled ones and a teacher's own, and their menu."""

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, get_args

import streamlit as st

from transformer.errors import one_line
from transformer.files.installed import ASSETS
from viz.app.cache.memory import memo, state_of_file
from viz.app.chrome.explanations import as_markdown
from viz.app.chrome.problems import without_paths
from viz.app.lessons.progress import card_view, draw_link
from viz.app.links import first_steps, navigation
from viz.app.models.menu import MODELS_VARIABLE
from viz.draw.labels import PAGE_TITLES
from viz.lessons import Lesson, LessonError, read_lesson
from viz.lessons.lesson import Language

_LOG = logging.getLogger(__name__)

LESSONS_VARIABLE = "HEADLIGHT_LESSONS"  # environment variable that names a folder of lesson files
BUNDLED_LESSONS = ASSETS / "lessons"
LANGUAGES: Mapping[Language, str] = {"en": "English", "de": "Deutsch"}
MAX_LESSONS = 100  # largest number of lessons from a teacher's folder


class Library(NamedTuple):
    """Lessons by the name of their file, and a sentence on each file that is not a lesson."""

    lessons: dict[str, Lesson]
    problems: list[str]


def read_offered() -> Library:
    """Read all lessons; a teacher's lesson replaces a bundled one of the same name."""
    lessons: dict[str, Lesson] = {}
    problems: list[str] = []
    paths = sorted(BUNDLED_LESSONS.glob("*.md"))
    if folder := os.environ.get(LESSONS_VARIABLE):
        if os.path.isdir(folder):  # noqa: PTH112  # raises nothing
            paths += sorted(Path(folder).glob("*.md"))[:MAX_LESSONS]
        else:
            problems.append(f"{LESSONS_VARIABLE} names no folder on this server.")
    for path in paths:
        lesson = memo(("lesson", str(path), state_of_file(path)), partial(_read, path))
        if isinstance(lesson, Lesson):
            lessons[path.stem] = lesson
        else:
            problems.append(without_paths(lesson))
    for problem in problems:
        _tell_author(problem)
    return Library(lessons, problems)


@lru_cache(1_000)
def _tell_author(problem: str) -> None:
    """Write a problem to the log, once: it is of no use to students, who see the menu."""
    _LOG.warning(problem)


def language() -> Language:
    """Return the language of the browser if lessons have it, else English."""
    own = (st.context.locale or "").partition("-")[0]
    return next((known for known in get_args(Language) if known == own), "en")


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


def draw_lessons() -> None:
    """Draw the first steps, and a link to each lesson's first card: a teacher's, then short ones.

    Those in the browser's language are in sight, the others behind its name.
    """
    available = read_offered()
    own = language()
    bundled = {path.stem for path in BUNDLED_LESSONS.glob("*.md")}
    lessons = sorted(
        available.lessons.values(), key=lambda lesson: (lesson.name in bundled, lesson.minutes)
    )
    first_page, *_ = PAGE_TITLES
    first_steps.link(1, "First steps · 5 min")
    for spoken in sorted(get_args(Language), key=lambda spoken: spoken != own):
        place = st.container if spoken == own else partial(st.expander, LANGUAGES[spoken])
        with place(key=f"lessons-{spoken}"):
            for lesson in [lesson for lesson in lessons if lesson.language == spoken]:
                card = lesson.cards[0]
                card = replace(card, view=None) if card.predict else card
                view = card_view(lesson, card, first_page)
                draw_link(lesson, 0, view, f"{as_markdown(lesson.title)} · {lesson.minutes} min")


OWN_GUIDE = f"""
**Your sentence.** Type it into the box at the top. All pages about a sentence follow.

**Your lines.** Corpus measures every head on many sentences: follow the link below.

**Your model.** Put the folder of a Headlight or MarianMT (Hugging Face) model into a folder of
models. Start the app with `{MODELS_VARIABLE}=FOLDER headlight app`, then choose the model in the
menu beside the sentence.
"""


def show() -> None:
    """Draw the menu, once the bar has written the address."""
    with st.popover("Lessons", key="lessons", type="tertiary"):
        draw_lessons()
        with st.expander("Bring your own"):
            st.markdown(OWN_GUIDE)
            lines = {"corpus_lines": "your lines"}
            navigation.link("corpus", "Measure many sentences", lines)
