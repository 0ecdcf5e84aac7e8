"""View of a card: its link, with head and sentence of its question."""

import streamlit as st

from transformer.analysis.heads.head import Head
from viz.app.lessons.progress import CARD, LESSON
from viz.app.links import address, navigation
from viz.app.models.menu import MODEL
from viz.app.sentence import sentence_bar
from viz.app.sentence.search_request import TEXT
from viz.draw.labels import SCREEN_NAMES
from viz.lessons import Card, Lesson, View

_HEAD = {"kind", "layer", "head"}


def card_view(lesson: Lesson, card: Card, page: str) -> View:
    """Return the view of a card; `page` is the one that is open, for a card without a link."""
    linked = card.view or View(page, {})
    choices = address.under_new_names(linked.choices)
    if linked.page in ("heads", "inside"):
        head = card.answer.arguments.get("head") if card.answer else None
        if isinstance(head, Head):
            numbers = {"layer": [str(head.layer + 1)], "head": [str(head.head + 1)]}
            choices = {"kind": [SCREEN_NAMES[head.kind]], **numbers} | choices
    if card.view and _HEAD & choices.keys():  # what a page opens by itself is in no address
        choices = {"kind": [SCREEN_NAMES["cross"]]} | choices
    if sentence := lesson.sentence_of(card):
        choices[TEXT] = [sentence]
    return View(linked.page, choices)


def draw_link(lesson: Lesson, number: int, view: View, label: str) -> None:
    """Draw the link that opens a card, by its number from 0, and a view.

    The sentence of a card has the model's own translation; the student's has the requested one.
    """
    bar = sentence_bar.url_choices()
    if TEXT in view.choices:
        bar = {MODEL: bar[MODEL]} if MODEL in bar else {}
    choices = {**bar, **view.choices, LESSON: lesson.name, CARD: str(number + 1)}
    navigation.plain_link(view.page, label, choices)


def is_open(view: View, page: str) -> bool:
    """Return whether a page shows a view: each choice is in the URL, or is its widget's value."""
    return view.page == page and all(
        sorted(map(str.casefold, values)) == sorted(map(str.casefold, _shown(name)))
        for name, values in view.choices.items()
    )


def _shown(name: str) -> list[str]:
    """Return the values of a choice; a default is in its widget alone."""
    if name in st.query_params:
        return st.query_params.get_all(name)
    value = st.session_state.to_dict().get(name)  # a lesson may have a name that is reserved
    return [str(part) for part in value] if isinstance(value, list) else [str(value)]
