"""The menu of lessons behind “Lessons”."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from viz.app.chrome.explanations import as_markdown
from viz.app.lessons import library
from viz.app.lessons.progress import CARD, LESSON
from viz.app.links import navigation
from viz.app.sentence.search_request import TEXT
from viz.draw.labels import PAGE_TITLES
from viz.lessons import Lesson
from viz.lessons.lesson import Language


def draw() -> None:
    """Draw a link to the first card of each lesson, by language."""
    offered = library.offered()
    for language in get_args(Language):
        with st.container(key=f"lessons-{language}", gap="xsmall"):
            for lesson in offered.lessons.values():
                if lesson.language == language:
                    _link(lesson)
    for problem in offered.problems:
        st.text(problem)


def _link(lesson: Lesson) -> None:
    label = f"{as_markdown(lesson.title)} · {lesson.minutes} min"
    choices = {LESSON: lesson.name, CARD: "1"}
    if lesson.sentence:
        choices[TEXT] = lesson.sentence
    first, *_ = PAGE_TITLES
    navigation.plain_link(first, label, choices)
