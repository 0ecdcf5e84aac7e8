"""Place and answers of a student in a lesson, in the URL so that a link resumes it; its view."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from transformer.analysis.heads.head import Head
from viz.app.links import address, navigation
from viz.app.models.menu import MODEL
from viz.app.sentence import search_request, sentence_bar
from viz.draw.labels import SCREEN_NAMES
from viz.lessons import Card, Lesson, View
from viz.lessons.tries import Tries, latest, read_tries, with_try, write_tries

LESSON, CARD, ANSWERS = "lesson", "card", "answers"  # names in the URL
_KEPT = "progress.kept"  # in the session: by lesson, what the URL has of it under `ANSWERS`


class Progress(NamedTuple):
    """Place in a lesson."""

    lesson: str  # name of the lesson
    card: int  # number of the open card, from 0
    tries: Tries

    def on(self, task: str) -> Sequence[str]:
        """Return all that was given to a card, in order."""
        return self.tries.get(task, ())

    def answer(self, task: str) -> str:
        """Return what was given last; "" where nothing was, or where a new try is open."""
        return self.on(task)[-1] if self.on(task) else ""


def current() -> Progress | None:
    """Read the place from the URL; None where no lesson is open."""
    query = st.query_params
    if not (name := query.get(LESSON, "")):
        return None
    number = query.get(CARD, "")
    card = int(number) if number.isascii() and number.isdecimal() and len(number) < 4 else 1
    kept = read_tries(st.session_state.get(_KEPT, {}).get(name, ""))
    return Progress(name, max(card, 1) - 1, latest(kept, read_tries(query.get(ANSWERS, ""))))


def settle(lesson: Lesson) -> None:
    """Put into the URL what was answered in this lesson, in the place of answers to another one."""
    answers: dict[str, str] = st.session_state.setdefault(_KEPT, {})
    in_url = st.query_params.get(ANSWERS, "")
    own = not read_tries(in_url).keys().isdisjoint(lesson.tasks)
    if own:  # after Back it has fewer: what was given stays given
        tries = latest(read_tries(answers.get(lesson.name, "")), read_tries(in_url))
        answers[lesson.name] = write_tries(tries, address.longest(ANSWERS))
    elif (text := answers.get(lesson.name, "")) != in_url:
        address.choose(ANSWERS, text or None)


def give(task: str, answer: str) -> None:
    """Put a try on a card into the URL."""
    progress = current()
    tries = with_try(progress.tries if progress else {}, task, answer)
    address.choose(ANSWERS, write_tries(tries, address.longest(ANSWERS)))


def leave() -> None:
    """Close the lesson; opened again, it has the answers that were given."""
    for name in (LESSON, CARD, ANSWERS, address.IN_CLASS, address.MINUTES, address.LOCKED):
        address.choose(name, None)


_HEAD = {"kind", "layer", "head"}


def card_view(lesson: Lesson, card: Card, page: str) -> View:
    """Return the view of a card; `page` is the one that is open, for a card without a link."""
    linked = card.view or View(page, {})
    choices = {name: [*values] for name, values in linked.choices.items()}
    if linked.page in ("heads", "inside"):
        head = card.answer.arguments.get("head") if card.answer else None
        if isinstance(head, Head):
            numbers = {"layer": [str(head.layer + 1)], "head": [str(head.head + 1)]}
            choices = {"kind": [SCREEN_NAMES[head.kind]], **numbers} | choices
    if card.view and _HEAD & choices.keys():  # what a page opens by itself is in no address
        choices = {"kind": [SCREEN_NAMES["cross"]]} | choices
    if sentence := lesson.sentence_of(card):
        choices[search_request.TEXT] = [sentence]
    return View(linked.page, choices)


def draw_link(lesson: Lesson, number: int, view: View, label: str) -> None:
    """Draw the link that opens a card, by its number from 0, and a view."""
    bar = sentence_bar.url_choices()
    if search_request.TEXT in view.choices:
        bar = {MODEL: bar[MODEL]} if MODEL in bar else {}
    choices = {**bar, **view.choices, LESSON: lesson.name, CARD: str(number + 1)}
    navigation.plain_link(view.page, label, choices)


def is_open(view: View, page: str) -> bool:
    """Return whether a page shows a view: each choice is in the URL, or is its widget's value."""
    return view.page == page and all(
        # a link may choose an option by the number that it begins with
        sorted(map(str.casefold, values)) in (shown, [text.partition(" ")[0] for text in shown])
        for name, values in view.choices.items()
        for shown in [sorted(map(str.casefold, _shown(name)))]
    )


def _shown(name: str) -> list[str]:
    """Return the values of a choice; a default is in its widget alone."""
    if name in st.query_params:
        return st.query_params.get_all(name)
    value = st.session_state.to_dict().get(name)  # a lesson may have a name that is reserved
    return [str(part) for part in value] if isinstance(value, list) else [str(value)]
