"""The panel of a lesson beside every page: one card, its view, its question and its answer.

It is drawn before the page, so that nothing waits for a picture. `notice` then highlights the
subject of the card, if the page shows its view.
"""

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import HeadlightError
from transformer.files.installed import BUNDLED
from viz.app.cache import cached_results, memory
from viz.app.chrome.explanations import as_markdown
from viz.app.chrome.fields import text_input, typed
from viz.app.chrome.problems import say
from viz.app.lessons import library, progress
from viz.app.lessons.progress import SHOWN, Progress, card_view, draw_link, is_open
from viz.app.links.address import UNLOCKED
from viz.app.sentence import search_request, sentence_bar
from viz.draw.caption import Origin
from viz.lessons import Card, Lesson, LessonError
from viz.lessons.answers import MAX_NAME, Answers, GivenAnswer, write_answers
from viz.lessons.grading import Answer, answer_key, in_language, is_right, right_answer
from viz.lessons.lesson import Language, Light
from viz.lessons.measures import Sentence

TEXTS: dict[Language, dict[str, str]] = {
    "en": {
        "card": "Card {number} of {count}",
        "goal": "Goal",
        "minutes": "{minutes} minutes",
        "end": "End the lesson",
        "back": "Back",
        "next": "Next",
        "open": "Open this view",
        "opened": "It is open.",
        "answer": "Your answer",
        "check": "Check",
        "show": "Show the answer",
        "again": "Try again",
        "right": "Right: {answer}.",
        "wrong": "Not quite.",
        "hint": "Open the view, look at what is highlighted, and try again.",
        "shown": "It is {answer}.",
        "wait": "The answer comes with the translation.",
        "first": "This card is about “{sentence}”",
        "skipped": "This question does not fit this sentence or model. {problem}",
        "model": "This lesson is written for the bundled model. With yours, answers can differ.",
        "sentence": "Use that sentence",
        "score": "You have {right} of {count} right.",
        "reader": "Your name",
        "download": "Download your answers",
    },
    "de": {
        "card": "Karte {number} von {count}",
        "goal": "Ziel",
        "minutes": "{minutes} Minuten",
        "end": "Lektion beenden",
        "back": "Zurück",
        "next": "Weiter",
        "open": "Diese Ansicht öffnen",
        "opened": "Sie ist geöffnet.",
        "answer": "Deine Antwort",
        "check": "Prüfen",
        "show": "Antwort zeigen",
        "again": "Noch einmal",
        "right": "Richtig: {answer}.",
        "wrong": "Nicht ganz.",
        "hint": "Öffne die Ansicht, schau auf die markierte Stelle und versuch es noch einmal.",
        "shown": "Es ist {answer}.",
        "wait": "Die Antwort kommt mit der Übersetzung.",
        "first": "Diese Karte gilt dem Satz „{sentence}“",
        "skipped": "Diese Frage passt nicht zu diesem Satz oder Modell. {problem}",
        "model": "Für das mitgelieferte Modell geschrieben. Bei diesem können Antworten abweichen.",
        "sentence": "Diesen Satz nehmen",
        "score": "Du hast {right} von {count} richtig.",
        "reader": "Dein Name",
        "download": "Antworten herunterladen",
    },
}


LIGHTS: Mapping[Light, tuple[str, ...]] = {
    "navigation": ("stTopNav",),
    "sentence": ("sentence-bar",),
    "translation": ("removal-translation", "translate-editor", "translation-line"),
    "findings": ("findings",),
    "controls": (
        "heads-controls", "inside-controls", "mask-controls", "roles-controls", "faithful-controls",
        "schedule-controls", "training-controls", "translate-controls", "corpus-controls",
    ),
    "links": ("player", "why-links"),
    "alternatives": ("translate-steps",),
    "tree": ("translate-tree",),
    "grid": ("grid", "roles-grid", "forming-player"),
    "map": ("heads-map", "translate-map", "roles-map", "forming-player", "arch-map"),
    "numbers": ("largest",),
    "ribbons": ("heads-ribbons",),
    "row": ("inside",),
    "masks": ("mask-picture", "mask-losses"),
    "chart": ("schedule-picture", "loss-picture", "positions-picture", "corpus-scatter"),
    "drawing": ("arch-drawing",),
}  # fmt: skip
"""Keys of the elements that a card can highlight; the first that the page has is lit."""


class _Open(NamedTuple):
    """The open card, with the places of its light and of the text below its link."""

    lesson: Lesson
    number: int
    slot: DeltaGenerator


_TYPED, _CHOSEN, _STATUS = "lesson-typed", "lesson-chosen", "panel.status"


def begin() -> None:
    """Take the lesson's sentence where the address has none; unlock it where a card asks for one.

    Before the sentence bar is drawn.
    """
    st.session_state[UNLOCKED] = False
    place = progress.current()
    lesson = library.offered().lessons.get(place.lesson) if place else None
    if place is None or lesson is None:
        return
    card = lesson.cards[min(place.card, len(lesson.cards) - 1)]
    st.session_state[UNLOCKED] = card.own_sentence
    if search_request.TEXT not in st.query_params and search_request.TEXT not in st.session_state:
        sentence = lesson.sentence_of(card) or lesson.sentence
        if sentence:
            search_request.put_text(sentence)


def show(page: str) -> None:
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
        _draw(lesson, place._replace(card=min(place.card, len(lesson.cards) - 1)), page)


def _lesson(place: Progress) -> Lesson:
    offered = library.offered()
    if place.lesson in offered.lessons:
        return offered.lessons[place.lesson]
    own = [problem for problem in offered.problems if problem.startswith(f"{place.lesson}.md")]
    raise LessonError(own[0] if own else "There is no such lesson here: take one from “Lessons”.")


def _draw(lesson: Lesson, place: Progress, page: str) -> None:
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
    if not card.predict:
        _view(lesson, place.card, page)
    if card.ask:
        _question(lesson, card, place)
    if card.predict:
        _view(lesson, place.card, page)
    _ways_on(lesson, place, number, page)


def _view(lesson: Lesson, number: int, page: str) -> None:
    """Draw the link to the view of a card, with the place for what `notice` says of it."""
    card = lesson.cards[number]
    with st.container(key="lesson-view", horizontal=True, gap="small"):
        if card.view is not None:
            label = TEXTS[lesson.language]["open"]
            draw_link(lesson, number, card_view(lesson, card, page), label)
        st.session_state[_STATUS] = _Open(lesson, number, st.container(width="content"))


def notice(page: str) -> None:
    """Light what the open card is about where the page shows its view; the page has been drawn."""
    status: _Open | None = st.session_state.pop(_STATUS, None)
    if status is None:
        return
    lesson, number, slot = status
    card = lesson.cards[number]
    if not is_open(card_view(lesson, card, page), page):
        return
    with slot:
        if card.view is not None:
            st.markdown(f"✓ {TEXTS[lesson.language]['opened']}")
        if card.light is not None:
            keys = " ".join(LIGHTS[card.light])
            st.html(f'<i data-light="{keys}" data-card="{lesson.name}-{number}"></i>')


def _question(lesson: Lesson, card: Card, place: Progress) -> None:
    """Draw the question of a card, and the verdict on an answer."""
    texts, number = TEXTS[lesson.language], place.card
    given = place.answer(number)
    if given:  # what is to be done next stays in sight
        st.markdown(card.ask)
        _field(card, texts, number, given)
    with st.container(key="lesson-act", gap="small"):
        if not given:
            st.markdown(card.ask)
        sentence, wanted = _sentence(), lesson.sentence_of(card)
        if wanted and sentence is not None and sentence.trace.source != wanted:
            st.markdown(as_markdown(texts["first"].format(sentence=wanted)))
            st.button(
                texts["sentence"],
                key="lesson-sentence",
                on_click=search_request.put_text,
                args=(wanted,),
            )
            return
        try:
            answer = _right_answer(card, sentence)
        except HeadlightError as error:
            st.text(texts["skipped"].format(problem=error))
            return
        if not given:
            _field(card, texts, number, given)
        elif answer is None:
            st.text(texts["wait"])
        else:
            _verdict(lesson, card, number, given, answer)


def _verdict(lesson: Lesson, card: Card, number: int, given: str, answer: Answer) -> None:
    """Say whether an answer is right; offer another try, or the right answer, where it is not."""
    texts = TEXTS[lesson.language]
    right = given != SHOWN and is_right(card, given_text(card, given), answer)
    with st.container(key=f"lesson-verdict-{number}"):
        if right or given == SHOWN:
            text = as_markdown(in_language(answer, lesson.language))
            st.markdown(f"**{texts['right' if right else 'shown'].format(answer=text)}**")
            st.markdown(card.reveal.replace("{answer}", text))
        else:
            st.markdown(f"**{texts['wrong']}**")
            st.markdown(card.hint or texts["hint"])
    if right:
        return
    with st.container(key="lesson-more", horizontal=True, gap="small"):
        st.button(
            texts["again"], key=f"lesson-again-{number}", on_click=progress.give, args=(number, "")
        )
        if given != SHOWN:
            _offer_answer(texts, number)


def _offer_answer(texts: Mapping[str, str], number: int) -> None:
    st.button(
        texts["show"],
        key=f"lesson-show-{number}",
        type="tertiary",
        on_click=progress.give,
        args=(number, SHOWN),
    )


def _sentence() -> Sentence | None:
    if (bar := sentence_bar.current()) is None:
        return None
    try:
        return Sentence(bar.translator, bar.trace)
    except HeadlightError:  # the page says so
        return None


def _right_answer(card: Card, sentence: Sentence | None) -> Answer | None:
    if card.answer is None or sentence is None:
        return right_answer(card, sentence)
    return memory.memo_per_trace(
        sentence.trace,
        ("lesson answer", cached_results.identity(sentence.translator), repr(card.answer)),
        lambda: right_answer(card, sentence),
    )


def _field(card: Card, texts: Mapping[str, str], number: int, given: str) -> None:
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
        _offer_answer(texts, number)


def _submit(number: int, key: str) -> None:
    value = st.session_state.get(key)
    if isinstance(value, int):
        progress.give(number, str(value + 1))
    elif isinstance(value, str):
        progress.give(number, value)


def _ways_on(lesson: Lesson, place: Progress, number: str, page: str) -> None:
    texts, last = TEXTS[lesson.language], len(lesson.cards) - 1
    with st.container(key="lesson-on", horizontal=True, gap="small"):
        _way(lesson, place.card - 1, page, "back", place.card == 0)
        st.text(number)
        _way(lesson, place.card + 1, page, "next", place.card == last)
    if place.card == last and any(place.answers) and (sentence := _sentence()) is not None:
        draw_score(lesson, place, sentence)
    bar = sentence_bar.current()
    if lesson.model == "bundled" and bar is not None and bar.translator.folder != BUNDLED:
        st.caption(texts["model"])


def _way(lesson: Lesson, number: int, page: str, name: str, disabled: bool) -> None:
    """Draw the link to a card; it also opens the card's view, unless the student predicts first."""
    label = TEXTS[lesson.language][name]
    card = None if disabled else lesson.cards[number]
    if card is None or card.view is None or card.predict:
        wanted = lesson.sentence_of(card) if card else ""
        st.button(
            label,
            key=f"lesson-{name}",
            disabled=disabled,
            on_click=_open_card,
            args=(number, wanted),
        )
        return
    with st.container(key=f"lesson-{name}-view", width="content"):
        draw_link(lesson, number, card_view(lesson, card, page), label)


def _open_card(number: int, sentence: str) -> None:
    """Open a card and its sentence, on the page that is open."""
    progress.open_card(number)
    if sentence and sentence != typed(search_request.TEXT):
        search_request.put_text(sentence)


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
    key = memory.memo_per_trace(
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
