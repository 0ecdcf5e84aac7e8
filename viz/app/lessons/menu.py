"""The menu beside the navigation: lessons, and content that a user can bring."""

from dataclasses import replace
from typing import get_args

import streamlit as st

from viz.app.chrome.explanations import as_markdown
from viz.app.lessons import library
from viz.app.lessons.card_view import card_view, draw_link
from viz.app.links import navigation
from viz.app.models.menu import MODELS_VARIABLE
from viz.draw.labels import PAGE_TITLES
from viz.lessons import Lesson
from viz.lessons.lesson import Language


def draw_lessons() -> None:
    """Draw a link to each lesson's first card: the browser's language first, short ones first."""
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


OWN_GUIDE = f"""
**Your sentence.** Type it into the box at the top. All pages about a sentence follow.

**Your lines.** Corpus measures every head on many sentences: follow the link below. Or run
`headlight report --lines FILE -o report.html` on a file with one sentence per line.

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
