"""Place and answers of a student in a lesson: all in the URL, so that a link resumes it."""

from typing import NamedTuple

import streamlit as st

from viz.app.links import address
from viz.app.links.address import IN_CLASS, longest

LESSON, CARD, ANSWERS = "lesson", "card", "answers"
"""Names in the URL."""
SEPARATOR = "~"
"""Between the answers in the URL; a card without one has an empty place."""
SHOWN = "?"
"""Placeholder for an answer that was shown on request."""


class Progress(NamedTuple):
    """Place in a lesson."""

    lesson: str  # name of the lesson
    card: int  # number of the open card, from 0
    answers: tuple[str, ...]  # what was answered, by card; "" where nothing was

    def answer(self, card: int) -> str:
        """Return what was answered to a card, from 0."""
        return self.answers[card] if card < len(self.answers) else ""


def current() -> Progress | None:
    """Read the place from the URL; None where no lesson is open."""
    query = st.query_params
    if not (name := query.get(LESSON, "")):
        return None
    number = query.get(CARD, "")
    card = int(number) if number.isascii() and number.isdecimal() and len(number) < 4 else 1
    given = query.get(ANSWERS, "")
    answers = tuple(given.split(SEPARATOR)) if given else ()
    return Progress(name, max(card, 1) - 1, answers)


def open_card(card: int) -> None:
    """Open a card, from 0."""
    address.choose(CARD, str(card + 1))


def give(card: int, answer: str) -> None:
    """Put an answer to a card, from 0, into the URL; "" takes it back."""
    progress = current()
    answers = list(progress.answers if progress else ())
    answers += [""] * (card + 1 - len(answers))
    answers[card] = " ".join(answer.replace(SEPARATOR, " ").split())
    text = SEPARATOR.join(answers).rstrip(SEPARATOR)
    # a link holds no more
    address.choose(ANSWERS, text[: longest(ANSWERS)] or None)


def leave() -> None:
    """Close the lesson."""
    for name in (LESSON, CARD, ANSWERS, IN_CLASS):
        address.choose(name, None)
