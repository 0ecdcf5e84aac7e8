"""Score of a student, and the answers as a file, below the last card of a lesson."""

import streamlit as st

from viz.app.cache import cached_results
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.fields import text_input
from viz.app.lessons.progress import SHOWN, Progress
from viz.app.lessons.texts import TEXTS
from viz.draw.caption import Origin
from viz.lessons import Card, Lesson
from viz.lessons.answer_key import answer_key
from viz.lessons.answers import MAX_NAME, Answers, GivenAnswer, write_answers
from viz.lessons.grading import is_right
from viz.lessons.measures import Sentence


def draw_score(lesson: Lesson, place: Progress, sentence: Sentence) -> None:
    """Draw the score, a field for the student's name, and the download of all answers."""
    texts = TEXTS[lesson.language]
    right = marked_answers(lesson, place, sentence, "").right
    count = sum(bool(card.ask) for card in lesson.cards)
    with st.container(key="lesson-score"):
        st.markdown(f"**{texts['score'].format(right=right, count=count)}**")
    typed = text_input(texts["reader"], key="lesson-reader", most=MAX_NAME, in_link=False)
    reader = "".join(filter(str.isprintable, typed)).strip()
    st.download_button(
        texts["download"],
        lambda: write_answers(marked_answers(lesson, place, sentence, reader)),
        f"{lesson.name}-answers.json",
        "application/json",
        key="lesson-download",
        on_click="ignore",
        disabled=not reader,
    )


def marked_answers(lesson: Lesson, place: Progress, sentence: Sentence, reader: str) -> Answers:
    """Mark the answers to a lesson; one that was shown to the student counts as none."""
    translator, trace = sentence.translator, sentence.trace
    origin = Origin.from_translator(translator, trace.source, "")
    marked: list[GivenAnswer | None] = []
    key = memo_per_trace(
        trace,
        ("lesson key", lesson.name, lesson.checksum, cached_results.identity(translator)),
        lambda: [e._replace(sentence=None) for e in answer_key(lesson, translator, trace)],
    )
    for number, entry in enumerate(key):
        given = place.answer(number)
        if entry.answer is None or given in ("", SHOWN):
            marked.append(None)
        else:
            text = given_text(entry.card, given)
            right = is_right(entry.card, text, entry.answer)
            marked.append(GivenAnswer(text, entry.answer.text, right))
    return Answers(
        lesson.name,
        lesson.checksum,
        trace.source,
        origin.model,
        origin.checksum,
        reader,
        tuple(marked),
    )


def given_text(card: Card, given: str) -> str:
    """Return the text of an answer in the URL, where a choice is a number from 1."""
    if card.choices and given.isdecimal() and 1 <= int(given) <= len(card.choices):
        return card.choices[int(given) - 1].text
    return given
