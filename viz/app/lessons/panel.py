"""The panel of a lesson beside every page: one card, its view, its question and its answer.

It is drawn before the page, so that nothing waits for a picture. `notice` then highlights the
subject of the card, if the page shows its view.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import HeadlightError
from transformer.files.installed import BUNDLED
from viz.app.cache import cached_results, memory
from viz.app.chrome.explanations import as_markdown
from viz.app.chrome.fields import button, read_text, text_input
from viz.app.chrome.problems import say
from viz.app.lessons import class_answers, library, progress
from viz.app.lessons.progress import Progress, card_view, draw_link, is_open
from viz.app.links import address
from viz.app.sentence import search_request
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.caption import Origin
from viz.lessons import Card, Lesson
from viz.lessons.answers import MAX_NAME, Answers, GivenAnswer, Try, file_name, write_answers
from viz.lessons.classroom import MAX_MINUTES, class_link, qr_code
from viz.lessons.grading import Answer, answer_key, format_answer, is_right, missing, right_answer
from viz.lessons.lesson import Light
from viz.lessons.measures import Sentence
from viz.lessons.texts import TEXTS, hint
from viz.lessons.tries import AGAIN, SHOWN

LIGHTS: Mapping[Light, tuple[str, ...]] = {
    "navigation": ("stTopNav",),
    "sentence": ("sentence-bar",),
    "translation": ("removal-translation", "translate-editor", "translation-line"),
    "findings": ("findings",),
    "controls": (
        "heads-controls", "inside-controls", "mask-controls", "roles-controls", "schedule-controls",
        "training-controls", "translate-controls", "corpus-controls",
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
    "chart": (
        "schedule-picture", "loss-picture", "positions-picture", "corpus-scatter",
        "stVegaLiteChart",
    ),
    "table": ("stTable", "stDataFrame"),
    "drawing": ("arch-drawing",),
    "score": ("why-score",),
    "order": ("word-order",),
    "bleu": ("bleu-picture",),
}  # fmt: skip
"""Keys or classes of the elements that a card can highlight; the first on the page is lit."""


_MINUTES = range(1, MAX_MINUTES + 1)
_MISSING = "panel.missing"  # in the session: the text that asks for an answer, for one run


def begin() -> None:
    """Take the sentence of the lesson if the address has none; call this before the bar."""
    st.session_state[address.UNLOCKED] = False
    place = progress.current()
    lesson = library.read_offered().lessons.get(place.lesson) if place else None
    if place is None or lesson is None:
        return
    progress.settle(lesson)
    card = lesson.cards[min(place.card, len(lesson.cards) - 1)]
    st.session_state[address.UNLOCKED] = card.own_sentence
    sentence, name = lesson.sentence_of(card) or lesson.sentence, search_request.TEXT
    if sentence and name not in st.query_params and name not in st.session_state:
        search_request.put_text(sentence)


def label(name: str) -> str:
    """Return a text of `viz.lessons.texts` in the language of the open lesson, else in English."""
    place = progress.current()
    lesson = library.read_offered().lessons.get(place.lesson) if place else None
    return TEXTS[lesson.language if lesson else "en"][name]


def show(page: str, bar: BarTranslation | None) -> tuple["_Panel", DeltaGenerator] | None:
    """Draw the open card of the lesson that the address names; return what `notice` takes."""
    if (place := progress.current()) is None:
        return None
    with st.container(key="lesson", gap="small"):
        offered = library.read_offered()
        if (lesson := offered.lessons.get(place.lesson)) is None:
            own = [text for text in offered.problems if text.startswith(f"{place.lesson}.md")]
            say(own[0] if own else "There is no such lesson here: take one from “Lessons”.")
            button("Close", "lesson-end", progress.leave, type="tertiary")
            return None
        place = place._replace(card=min(place.card, len(lesson.cards) - 1))
        panel = _Panel(lesson, place, page, bar)
        return panel, panel.draw()


def notice(panel: "_Panel", slot: DeltaGenerator) -> None:
    """Highlight what the open card is about, if the page shows it; call this after the page."""
    if panel.predicts:
        with slot:
            st.caption(panel.texts["predict"])
            st.html("<i data-predict hidden></i>")
        return
    if not is_open(card_view(panel.lesson, panel.card, panel.page), panel.page):
        return
    with slot:
        if panel.card.view is not None:
            st.markdown(f"✓ {panel.texts['opened']}")
        if panel.card.light is not None:
            keys, card = " ".join(LIGHTS[panel.card.light]), panel.place.card
            st.html(f'<i data-light="{keys}" data-card="{panel.lesson.name}-{card}"></i>')


class _Panel(NamedTuple):
    """The open card of a lesson, beside a page."""

    lesson: Lesson
    place: Progress
    page: str
    bar: BarTranslation | None  # the sentence to which the answers belong

    @property
    def card(self) -> Card:
        return self.lesson.cards[self.place.card]

    @property
    def task(self) -> str:
        return self.lesson.tasks[self.place.card]

    @property
    def predicts(self) -> bool:
        """The state of a card that is to be answered before any picture is seen."""
        return self.card.predict and not self.place.on(self.task)

    @property
    def texts(self) -> Mapping[str, str]:
        return TEXTS[self.lesson.language]

    def draw(self) -> DeltaGenerator:
        """Draw it; return the place of the text below the link to its view."""
        lesson, card, texts, at = self.lesson, self.card, self.texts, self.place.card
        with st.container(key="lesson-top", horizontal=True, gap="small"):
            st.text(lesson.title)
            if (minutes := st.query_params.get(address.MINUTES, "")) in map(str, _MINUTES):
                clock = f"{lesson.name}-{minutes}"
                st.html(
                    f'<time data-clock="{clock}" data-over="{texts["over"]}">{minutes}:00</time>'
                )
            # the number folds the next card anew
            st.html(f'<button data-fold="{at}" aria-expanded="false">{texts["text"]}</button>')
            button("✕", "lesson-end", progress.leave, help=texts["end"], type="tertiary")
        given = self.place.answer(self.task)
        with st.container(key="lesson-text", gap="small"):  # gives way to what is to be done
            if at == 0:
                minutes = texts["minutes"].format(minutes=lesson.minutes)
                st.caption(f"{texts['goal']}: {as_markdown(lesson.goal)} · {minutes}")
                if not address.in_class():
                    with st.container(key="lesson-teacher", horizontal=True, gap="small"):
                        if url := st.context.url:
                            self._for_a_class(urlsplit(url))
                        class_answers.draw_button(lesson)
                st.markdown(lesson.text)
            with st.container(key=f"lesson-card-{at}"):  # which `js/card_focus.js` knows
                st.markdown(f"**{as_markdown(card.title)}**")
            st.markdown(card.text)
            if card.ask and given:
                st.markdown(card.ask)
                self._field(given)
        if not card.predict:
            slot = self._view()
        with st.container(key="lesson-act", gap="small"):
            if card.ask:
                self._question(given)
            if at == len(lesson.cards) - 1:
                self._end()
            bar = self.bar
            if lesson.model == "bundled" and bar is not None and bar.translator.folder != BUNDLED:
                st.caption(texts["model"])
        if card.predict:
            slot = self._view()
        with st.container(key="lesson-on", horizontal=True, gap="small"):
            self._card_link(at - 1, "back")
            st.text(texts["card"].format(number=at + 1, count=len(lesson.cards)))
            self._card_link(at + 1, "next")
        return slot

    def _end(self) -> None:
        """Draw the score, and the download of all answers, once something was answered."""
        lesson, texts = self.lesson, self.texts
        if (
            not any(self.place.on(task) for task in lesson.tasks)
            or (sentence := self._sentence()) is None
        ):
            return
        marked = marked_answers(lesson, self.place, sentence, "")
        count = sum(bool(card.ask) for card in lesson.cards)
        if self.place.on(self.task) or not self.card.ask:
            score = texts["score"].format(right=marked.right, count=count)
            with st.container(key="lesson-score"):
                st.markdown(f"**{score}** {texts['at_once'].format(right=marked.at_once)}")
        name = text_input(texts["reader"], key="lesson-reader", most=MAX_NAME, in_link=False)
        reader = "".join(filter(str.isprintable, name)).strip()
        st.download_button(
            texts["download"],
            lambda: write_answers(replace(marked, reader=reader)),
            file_name(lesson.name, reader),
            "application/json",
            key="lesson-download",
            on_click="ignore",
            disabled=not reader,
        )

    def _for_a_class(self, url: SplitResult) -> None:
        """Draw the button that shows the link for a class and its QR code."""
        path = url.path.rstrip("/").removesuffix(self.page).rstrip("/")
        with st.popover(self.texts["class"], key="lesson-class", type="tertiary"):
            minutes = st.number_input(self.texts["time"], 0, MAX_MINUTES, 0, key="lesson-minutes")
            locked = st.checkbox(self.texts["lock"], key="lesson-lock")
            host = f"{url.scheme}://{url.netloc}{path}"
            link = class_link(self.lesson, host, minutes, locked=locked)
            if url.hostname in ("localhost", "127.0.0.1", "::1"):
                st.markdown(self.texts["alone"].format(host=as_markdown(url.netloc)))
            st.text(self.texts["shared"])
            st.code(link, language=None, wrap_lines=True)
            st.image(memory.memo(("qr code", link), lambda: qr_code(link)), width=280)

    def _view(self) -> DeltaGenerator:
        """Draw the link to the view of a card; return the place for what `notice` says of it."""
        with st.container(key="lesson-view", horizontal=True, gap="small"):
            if self.card.view is not None and not self.predicts:
                view = card_view(self.lesson, self.card, self.page)
                draw_link(self.lesson, self.place.card, view, self.texts["open"])
            return st.container(width="content")

    def _question(self, given: str) -> None:
        """Draw the question of a card, or the verdict on what was given."""
        card, texts = self.card, self.texts
        if not given:
            st.markdown(card.ask)
        sentence, wanted = self._sentence(), self.lesson.sentence_of(card)
        if wanted and sentence is not None and sentence.trace.source != wanted:
            st.markdown(as_markdown(texts["first"].format(sentence=wanted)))
            button(texts["sentence"], "lesson-sentence", search_request.put_text, wanted)
            return
        try:
            answer = _right_answer(card, sentence)
        except HeadlightError as error:
            st.text(texts["skipped"].format(problem=error))
            return
        if not given:
            self._field(given)
        elif answer is None:
            st.text(texts["wait"])
        else:
            self._verdict(given, answer)

    def _sentence(self) -> Sentence | None:
        if self.bar is None:
            return None
        try:
            return Sentence(self.bar.translator, self.bar.trace)
        except HeadlightError:  # the page says so
            return None

    def _field(self, given: str) -> None:
        card, label, number = self.card, self.texts["answer"], self.place.card
        key = f"lesson-{'chosen' if card.choices else 'typed'}-{number}"
        if card.choices:
            names = [choice.text for choice in card.choices]
            chosen = names.index(text) if (text := given_text(card, given)) in names else None
            st.radio(
                label,
                range(len(names)),
                chosen,
                format_func=names.__getitem__,
                key=key,
                disabled=bool(given),
            )
        elif not given:
            given_to = card, self.task, key
            text_input(label, key=key, most=100, in_link=False, on_change=_submit, args=given_to)
        if not given:
            if asked := st.session_state.pop(_MISSING, ""):
                st.markdown(self.texts[asked])
            with st.container(key="lesson-check", horizontal=True, gap="small"):
                button(self.texts["check"], f"lesson-check-{number}", _submit, card, self.task, key)
                self._offer_answer()

    def _offer_answer(self) -> None:
        if st.query_params.get(address.LOCKED) == "1":
            return
        key = f"lesson-show-{self.place.card}"
        button(self.texts["show"], key, progress.give, self.task, SHOWN, type="tertiary")

    def _verdict(self, given: str, answer: Answer) -> None:
        """Say whether an answer is right; offer another try, or the answer, where it is not."""
        card, texts, number = self.card, self.texts, self.place.card
        right = given != SHOWN and is_right(card, given_text(card, given), answer)
        seen = right and SHOWN in self.place.on(self.task)
        with st.container(key=f"lesson-verdict-{number}"):
            if right or given == SHOWN:
                text = as_markdown(format_answer(answer, self.lesson.language))
                verdict = texts["right" if right else "shown"].format(answer=text)
                if text.rstrip("”“’‘").endswith((".", "!", "?")):  # a choice that is a sentence
                    verdict = verdict.removesuffix(".")
                st.markdown(f"**{verdict}**")
                if seen:
                    st.markdown(texts["uncounted"])
                st.markdown(card.reveal.replace("{answer}", text))
            else:
                st.markdown(f"**{texts['wrong']}**")
                st.markdown(hint(card, texts))
        if not right:
            with st.container(key="lesson-more", horizontal=True, gap="small"):
                button(texts["again"], f"lesson-again-{number}", progress.give, self.task, AGAIN)
                if given != SHOWN:
                    self._offer_answer()

    def _card_link(self, number: int, name: str) -> None:
        """Draw the link to a card, which also opens its view, unless the student predicts first."""
        lesson, label = self.lesson, self.texts[name]
        if not 0 <= number < len(lesson.cards):
            st.button(label, key=f"lesson-{name}", disabled=True)
            return
        card = lesson.cards[number]
        if card.view is None and name == "back":  # it was read beside the view before it
            before = [c.view for c in lesson.cards[:number] if c.view]
            card = replace(card, view=before[-1] if before else None)
        if card.view is None or card.predict:
            button(label, f"lesson-{name}", _open_card, number, lesson.sentence_of(card))
            return
        with st.container(key=f"lesson-{name}-view", width="content"):
            draw_link(lesson, number, card_view(lesson, card, self.page), label)


def _right_answer(card: Card, sentence: Sentence | None) -> Answer | None:
    if card.answer is None or sentence is None:
        return right_answer(card, sentence)
    key = (
        "lesson answer",
        repr(card.answer),
        *cached_results.key_of(sentence.translator, sentence.trace),
    )
    return memory.memo(key, lambda: right_answer(card, sentence))


def _submit(card: Card, task: str, key: str) -> None:
    value = st.session_state.get(key)
    text = str(value + 1) if isinstance(value, int) else value if isinstance(value, str) else ""
    if asked := missing(card, text):
        st.session_state[_MISSING] = asked
    else:
        progress.give(task, text)


def _open_card(number: int, sentence: str) -> None:
    address.choose(progress.CARD, str(number + 1))
    if sentence and sentence != read_text(search_request.TEXT):
        search_request.put_text(sentence)


def marked_answers(lesson: Lesson, place: Progress, sentence: Sentence, reader: str) -> Answers:
    """Mark all that was given in a lesson."""
    translator, trace = sentence.translator, sentence.trace
    origin = Origin.from_translator(translator, trace.source, "")
    marked: list[GivenAnswer] = []
    key = memory.memo(
        ("lesson key", lesson.name, lesson.checksum, *cached_results.key_of(translator, trace)),
        lambda: [e._replace(sentence=None) for e in answer_key(lesson, translator, trace)],
    )
    for task, entry in zip(lesson.tasks, key, strict=True):
        given = place.on(task)
        if entry.answer is not None and any(given):
            texts = [given_text(entry.card, text) for text in given if text not in (AGAIN, SHOWN)]
            tries = tuple(Try(text, is_right(entry.card, text, entry.answer)) for text in texts)
            marked.append(GivenAnswer(task, entry.answer.text, tries, SHOWN in given))
    about = lesson.name, lesson.checksum, trace.source, origin.model, origin.checksum
    return Answers(*about, reader, tuple(marked))


def given_text(card: Card, given: str) -> str:
    """Return the text of an answer in the URL, where a choice is a number from 1."""
    if card.choices and given.isdecimal() and 1 <= int(given) <= len(card.choices):
        return card.choices[int(given) - 1].text
    return given
