"""Answers of a reader as a file, below the last card of a lesson."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from transformer import Translator
from viz.app.chrome.fields import text_input
from viz.app.lessons.progress import SHOWN, Progress
from viz.app.lessons.texts import TEXTS
from viz.draw.caption import Origin
from viz.lessons import Card, Lesson
from viz.lessons.answer_key import answer_key
from viz.lessons.answers import MAX_NAME, Answers, GivenAnswer, write_answers
from viz.lessons.grading import is_right


def draw_download(lesson: Lesson, place: Progress, translator: Translator, source: str) -> None:
    """Draw a field for the reader's name, and the button that downloads the answers so far.

    `source` is the reader's sentence.
    """
    texts = TEXTS[lesson.language]
    typed = text_input(texts["reader"], key="lesson-reader", most=MAX_NAME, in_link=False)
    reader = "".join(filter(str.isprintable, typed)).strip()
    st.download_button(
        texts["download"],
        lambda: write_answers(marked_answers(lesson, place, translator, source, reader)),
        f"{lesson.name}-answers.json",
        "application/json",
        key="lesson-download",
        on_click="ignore",
        disabled=not reader,
    )


def marked_answers(
    lesson: Lesson, place: Progress, translator: Translator, source: str, reader: str
) -> Answers:
    """Mark the answers to a lesson; one that was shown to the reader counts as none."""
    origin = Origin.from_translator(translator, source, "")
    marked: list[GivenAnswer | None] = []
    for number, entry in enumerate(answer_key(replace(lesson, sentence=source), translator)):
        given = place.answer(number)
        if entry.answer is None or given in ("", SHOWN):
            marked.append(None)
        else:
            text = given_text(entry.card, given)
            right = is_right(entry.card, text, entry.answer)
            marked.append(GivenAnswer(text, entry.answer.text, right))
    return Answers(
        lesson.name, lesson.checksum, source, origin.model, origin.checksum, reader, tuple(marked)
    )


def given_text(card: Card, given: str) -> str:
    """Return the text of an answer in the URL, where a choice is a number from 1."""
    if card.choices and given.isdecimal() and 1 <= int(given) <= len(card.choices):
        return card.choices[int(given) - 1].text
    return given
