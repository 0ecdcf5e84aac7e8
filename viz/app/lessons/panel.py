"""The panel of a lesson beside every page: one card, its view, its question and its answer.

It is drawn before the page, so that nothing waits for a picture; `notice` then says below the link
of a card whether the page shows what the card asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import HeadlightError
from transformer.files.installed import BUNDLED
from viz.app import presentation
from viz.app.cache import cached_results
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.explanations import as_markdown
from viz.app.chrome.fields import text_input
from viz.app.chrome.problems import say
from viz.app.lessons import library, progress
from viz.app.lessons.download import draw_download, given_text
from viz.app.lessons.progress import CARD, SHOWN, Progress
from viz.app.lessons.texts import TEXTS
from viz.app.links import navigation
from viz.app.sentence import search_request, sentence_bar
from viz.app.sentence.search_request import TEXT
from viz.lessons import Card, Lesson, LessonError, View
from viz.lessons.grading import Answer, in_language, is_right, right_answer
from viz.lessons.lesson import Light
from viz.lessons.measures import Sentence

LIGHTS: Mapping[Light, tuple[str, ...]] = {
    "navigation": ("stTopNav",),
    "sentence": ("sentence-bar",),
    "translation": ("removal-translation", "translation-line", "translate-editor"),
    "findings": ("findings",),
    "controls": (
        "heads-controls", "inside-controls", "mask-controls", "roles-controls", "faithful-controls",
        "schedule-controls", "forming-controls", "training-controls", "translate-controls",
        "corpus-controls",
    ),
    "links": ("translate-words", "why-links"),
    "alternatives": ("translate-steps",),
    "tree": ("translate-tree",),
    "grid": ("grid", "roles-grid", "forming-grid"),
    "map": ("heads-map", "translate-map", "roles-map", "forming-map", "arch-map"),
    "numbers": ("largest",),
    "ribbons": ("heads-ribbons",),
    "row": ("inside",),
    "masks": ("mask-picture", "mask-losses"),
    "chart": ("schedule-picture", "loss-picture", "positions-picture", "corpus-scatter"),
    "drawing": ("arch-drawing",),
}  # fmt: skip
"""Keys of the elements that a card can highlight; the first that the page has is lit."""


class _Status(NamedTuple):
    """Place below the link of a card, with what it says once the page shows the view."""

    slot: DeltaGenerator
    view: View
    text: str


_TYPED, _CHOSEN, _STATUS = "lesson-typed", "lesson-chosen", "panel.status"


def show() -> None:
    """Draw the open card of the lesson that the address names, if it names one."""
    st.session_state[_STATUS] = None
    if (place := progress.current()) is None:
        return
    with st.container(key="lesson", gap="small"):
        try:
            lesson = _lesson(place)
        except LessonError as error:
            say(error)
            st.button("Close", on_click=progress.leave, key="lesson-end", type="tertiary")
            return
        _draw(lesson, place._replace(card=min(place.card, len(lesson.cards) - 1)))


def _lesson(place: Progress) -> Lesson:
    offered = library.offered()
    if place.lesson in offered.lessons:
        return offered.lessons[place.lesson]
    own = [problem for problem in offered.problems if problem.startswith(f"{place.lesson}.md")]
    raise LessonError(own[0] if own else "There is no such lesson here: take one from “Lessons”.")


def _draw(lesson: Lesson, place: Progress) -> None:
    texts, card = TEXTS[lesson.language], lesson.cards[place.card]
    with st.container(key="lesson-top", horizontal=True, gap="small"):
        st.text(lesson.title)
        st.button(
            "✕", on_click=progress.leave, key="lesson-end", help=texts["end"], type="tertiary"
        )
    number = texts["card"].format(number=place.card + 1, count=len(lesson.cards))
    if place.card == 0:
        minutes = texts["minutes"].format(minutes=lesson.minutes)
        st.caption(f"{texts['goal']}: {as_markdown(lesson.goal)} · {minutes}")
        st.markdown(lesson.text)
    with st.container(key=f"lesson-card-{place.card}"):  # which `js/card_focus.js` knows
        st.markdown(f"**{as_markdown(card.title)}**")
    st.markdown(card.text)
    if card.light is not None:
        keys = " ".join(LIGHTS[card.light])
        st.html(f'<i data-light="{keys}" data-card="{lesson.name}-{place.card}"></i>')
    if card.ask:  # before the link: the reader predicts, then looks
        _question(lesson, card, place)
    if card.view is not None:
        _view(card.view, texts)
    _ways_on(lesson, place, number)


def _view(view: View, texts: Mapping[str, str]) -> None:
    """Draw the link to a view, with a place below it for what `notice` says."""
    choices = {**sentence_bar.url_choices(), **view.choices}
    with st.container(key="lesson-view"):
        navigation.plain_link(view.page, texts["open"], choices)
        st.session_state[_STATUS] = _Status(st.empty(), view, texts["opened"])


def notice(page: str) -> None:
    """Say below the link of the open card that the page shows it; the page has been drawn."""
    status: _Status | None = st.session_state.pop(_STATUS, None)
    if status is not None and _is_open(status.view, page):
        status.slot.markdown(f"✓ {status.text}")


def _is_open(view: View, page: str) -> bool:
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


def _question(lesson: Lesson, card: Card, place: Progress) -> None:
    """Draw the question of a card, and what comes after an answer."""
    texts, number = TEXTS[lesson.language], place.card
    st.markdown(card.ask)
    sentence = _sentence()
    wanted = "" if card.view is None else "".join(card.view.choices.get(TEXT, ()))
    elsewhere = wanted and (sentence is None or sentence.trace.source != wanted)
    try:
        answer = None if elsewhere else _right_answer(card, sentence)
    except HeadlightError as error:
        st.text(texts["skipped"].format(problem=error))
        if lesson.sentence and sentence is not None and sentence.trace.source != lesson.sentence:
            st.button(
                texts["sentence"],
                key="lesson-sentence",
                on_click=search_request.put_text,
                args=(lesson.sentence,),
            )
        return
    given = place.answer(number)
    _field(card, texts, number, given)
    if not given:
        return
    if answer is None:
        st.text(texts["first" if elsewhere else "wait"])
        return
    right = given != SHOWN and is_right(card, given_text(card, given), answer)
    label = "shown" if given == SHOWN else "right" if right else "wrong"
    with st.container(key=f"lesson-verdict-{number}"):
        _verdict(card, texts[label], as_markdown(in_language(answer, lesson.language)))
    if right:
        return
    st.button(
        texts["again"],
        key=f"lesson-again-{number}",
        on_click=progress.give,
        args=(number, ""),
        type="tertiary",
    )


def _sentence() -> Sentence | None:
    """Return the sentence in the bar, None where there is none."""
    if (bar := sentence_bar.current()) is None:
        return None
    try:
        return Sentence(bar.translator, cached_results.trace(bar.translator, bar.translation))
    except HeadlightError:  # the page says so
        return None


def _right_answer(card: Card, sentence: Sentence | None) -> Answer | None:
    """Compute the right answer to a card, once for all readers; see `right_answer`."""
    if card.answer is None or sentence is None:
        return right_answer(card, sentence)
    return memo_per_trace(
        sentence.trace,
        ("lesson answer", cached_results.identity(sentence.translator), repr(card.answer)),
        lambda: right_answer(card, sentence),
    )


def _field(card: Card, texts: Mapping[str, str], number: int, given: str) -> None:
    """Draw the choices of a card, or a field for its answer."""
    key = f"{_CHOSEN if card.choices else _TYPED}-{number}"
    if card.choices:
        names = [choice.text for choice in card.choices]
        chosen = int(given) - 1 if given.isdecimal() and 1 <= int(given) <= len(names) else None
        st.radio(
            texts["answer"],
            range(len(names)),
            chosen,
            format_func=names.__getitem__,
            key=key,
            disabled=bool(given),
        )
    elif not given:
        text_input(texts["answer"], key=key, in_link=False, on_change=_submit, args=(number, key))
    if given:
        return
    with st.container(key="lesson-check", horizontal=True, gap="small"):
        st.button(
            texts["check"], key=f"lesson-check-{number}", on_click=_submit, args=(number, key)
        )
        st.button(
            texts["show"],
            key=f"lesson-show-{number}",
            type="tertiary",
            on_click=progress.give,
            args=(number, SHOWN),
        )


def _submit(number: int, key: str) -> None:
    """Take what was chosen or typed as the answer to a card."""
    value = st.session_state.get(key)
    if isinstance(value, int):
        progress.give(number, str(value + 1))
    elif isinstance(value, str):
        progress.give(number, value)


def _verdict(card: Card, text: str, answer: str) -> None:
    """Say whether an answer is right, and what the card reveals."""
    st.markdown(f"**{text.format(answer=answer)}**")
    if card.reveal:
        st.markdown(card.reveal.replace("{answer}", answer))


def _ways_on(lesson: Lesson, place: Progress, number: str) -> None:
    texts = TEXTS[lesson.language]
    with st.container(key="lesson-on", horizontal=True, gap="small"):
        st.button(
            texts["back"],
            key="lesson-back",
            disabled=place.card == 0,
            on_click=progress.open_card,
            args=(place.card - 1,),
        )
        st.text(number)
        _next(lesson, place, texts["next"])
    last = len(lesson.cards) - 1
    if place.card == last and any(place.answers) and (sentence := _sentence()) is not None:
        draw_download(lesson, place, sentence.translator, sentence.trace.source)
    bar = sentence_bar.current()
    if lesson.model == "bundled" and bar is not None and bar.translator.folder != BUNDLED:
        st.caption(texts["model"])


def _next(lesson: Lesson, place: Progress, label: str) -> None:
    """Draw the way to the next card; when presented, it opens the view of that card, too."""
    last = place.card == len(lesson.cards) - 1
    view = None if last else lesson.cards[place.card + 1].view
    if presentation.is_on() and view is not None:
        choices = {**sentence_bar.url_choices(), **view.choices, CARD: str(place.card + 2)}
        with st.container(key="lesson-next-view"):
            navigation.plain_link(view.page, label, choices)
        return
    st.button(
        label,
        key="lesson-next",
        type="primary",
        disabled=last,
        on_click=progress.open_card,
        args=(place.card + 1,),
    )
