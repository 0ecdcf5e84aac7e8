"""The menu of lessons: those in the student's language first, the shortest first of each."""

from dataclasses import replace
from typing import get_args

import streamlit as st

from viz.app.chrome.explanations import as_markdown
from viz.app.lessons import library
from viz.app.lessons.card_view import card_view, draw_link
from viz.draw.labels import PAGE_TITLES
from viz.lessons import Lesson
from viz.lessons.lesson import Language


def draw() -> None:
    """Draw a link to the first card of each lesson, by language: that of the browser first."""
    offered = library.offered()
    own = (st.context.locale or "").partition("-")[0]
    lessons = sorted(offered.lessons.values(), key=lambda lesson: lesson.minutes)
    for language in sorted(get_args(Language), key=lambda language: language != own):
        with st.container(key=f"lessons-{language}", gap="xsmall"):
            for lesson in lessons:
                if lesson.language == language:
                    _link(lesson)
    for problem in offered.problems:
        st.text(problem)


def _link(lesson: Lesson) -> None:
    page, *_ = PAGE_TITLES
    card = lesson.cards[0]
    view = card_view(lesson, replace(card, view=None) if card.predict else card, page)
    draw_link(lesson, 0, view, f"{as_markdown(lesson.title)} · {lesson.minutes} min")
