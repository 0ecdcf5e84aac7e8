"""A student who plays a lesson to the letter by keyboard alone.

Next must have opened the view of a card, with the place that it highlights in sight, unless the
student predicts first. Each card gets a wrong answer, which shows a hint and no solution, then the
right one, read from the lit picture where it can be. A card that asks for the student's sentence
gets one; the last card says the score. The address of every third card is opened in a new browser.
"""

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.browser.lesson_layout import LIT
from transformer import HeadlightError
from viz.lessons import Card, Lesson
from viz.lessons.grading import Answer, KeyEntry, format_answer, is_right
from viz.lessons.numbers import read_numbers
from viz.lessons.texts import TEXTS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PATIENCE = 30_000  # milliseconds until a state of the page must be there
DOOR_TABS, MENU_TABS, NEAR_TABS = 24, 40, 6
"""Largest number of presses of Tab to the menu of lessons, in it, and from action to action."""

# of what has the focus: whether it is in a place, and whether it can be seen
FOCUSED = """(place) => document.activeElement?.closest(place) !== null"""
IN_SIGHT = """() => {
  const element = document.activeElement.closest("label") ?? document.activeElement;
  const { left, top, width, height } = element.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return there !== null && (element.contains(there) || there.contains(element));
}"""
# the rows of the table that a picture has for screen readers, as texts
TABLE = """() => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap((element) =>
    [element, ...(element.shadowRoot ? all(element.shadowRoot) : [])]);
  const table = all(document.querySelector(".hl-lit")).find((e) => e.matches("table"));
  return [...(table?.rows ?? [])].map((row) => [...row.cells].map((cell) => cell.textContent));
}"""
OWN_SENTENCE = "Two dogs play in the snow."
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]"
# what a student sees of a card: its text, its verdict, the choice that was made
CARD = """() => [
  document.querySelector(".st-key-lesson").innerText.replace(/\\s+/g, " "),
  [...document.querySelectorAll(".st-key-lesson [type=radio]")].findIndex((e) => e.checked),
]"""


INSIDE = {"strongest": 4, "weight": 4, "score": 2}
"""By measure: its column in the table of one head."""


GIVEN_BACK = 3.0
"""Seconds until a page that redraws the card on a busy machine has given it the focus again."""

IN_PANEL = "!!document.querySelector('.st-key-lesson')?.contains(document.activeElement)"


class Stuck(HeadlightError):
    """A step that the keyboard does not reach, or that shows nothing."""


@dataclass
class Score:
    """Number of cards of a lesson on which each step was reached."""

    read: int = 0  # answers that were read from the screen
    wrong: int = 0
    right: int = 0
    opened: int = 0
    lit: int = 0
    resumed: int = 0


class Player:
    """A student without a mouse."""

    def __init__(
        self, browser: "Browser", screen: dict[str, Any], address: str, lesson: Lesson, score: Score
    ) -> None:
        self.browser, self.screen, self.address = browser, screen, address
        self.lesson, self.score, self.texts = lesson, score, TEXTS[lesson.language]

    def play(self, key: list[KeyEntry]) -> list[str]:
        """Play all cards; return what failed, by card."""
        context = self.browser.new_context(**self.screen)
        self.page = context.new_page()
        failures = []
        try:
            self._open_lesson()
        except Stuck as error:
            failures.append(f"menu: {error}")
            self._go_to(0)
        for number, entry in enumerate(key):
            try:
                self._play_card(number, entry)
                if number < len(key) - 1:
                    self._press("[class*=st-key-lesson-next] :is(a, button)")
                    self._wait_for_card(number + 1)
                    self._wait_for_focus(f".st-key-lesson-card-{number + 1}")
                else:
                    count = sum(bool(card.ask) for card in self.lesson.cards)
                    score = self.texts["score"].format(right=count, count=count)
                    self._wait(
                        f"document.querySelector('.st-key-lesson-score')?.innerText"
                        f".includes({score!r})",
                        f"it does not say {score!r}",
                    )
            except Stuck as error:
                failures.append(f"card {number + 1}: {error}")
                if number < len(key) - 1:
                    self._go_to(number + 1)
        context.close()
        return failures

    def _open_lesson(self) -> None:
        self.page.goto(self.address)
        self._wait(f"!!document.querySelector('{AT_REST} .st-key-lessons')", "no menu of lessons")
        self._press(".st-key-lessons button", DOOR_TABS)
        self._wait("!!document.querySelector('[data-testid=stPopoverBody] a')", "the menu is shut")
        self._press(f'a[href*="lesson={self.lesson.name}&"]', MENU_TABS)
        self._wait_for_card(0)
        self._wait("!document.querySelector('[data-testid=stPopoverBody]')", "the menu stays open")
        self._wait_for_focus(".st-key-lesson-card-0")

    def _go_to(self, number: int) -> None:
        """Open a card by its address, where the keyboard did not come to it."""
        text = f"&text={self.lesson.sentence}" if self.lesson.sentence else ""
        self.page.goto(f"{self.address}/?lesson={self.lesson.name}&card={number + 1}{text}")
        self._wait_for_card(number)
        self._rest()
        # of a card that predicts, the view comes after the first try; folded, it is open
        if (link := self.page.locator(".st-key-lesson-view a")).count() and link.is_visible():
            link.click()
            self._rest()
        self.page.locator(f".st-key-lesson-card-{number}").evaluate(
            "(e) => { e.tabIndex = -1; e.focus(); }"
        )

    def _play_card(self, number: int, entry: KeyEntry) -> None:
        card = entry.card
        if card.view is not None and not card.predict:
            self._require_open(entry)
        elif self.page.evaluate("!!document.querySelector('.hl-lit')"):
            raise Stuck("something is lit before the view is open")
        if card.own_sentence:
            self.page.locator(".st-key-text textarea").fill(OWN_SENTENCE)
            self.page.keyboard.press("Control+Enter")
            self._wait(
                f"new URL(location.href).searchParams.get('text') === {OWN_SENTENCE!r}",
                "the sentence is not taken",
            )
            self._rest()
            self._reach(f".st-key-lesson-typed-{number} input", MENU_TABS)
        if card.ask:
            answer = entry.answer or Answer("?", 100)
            self._answer(number, card, answer, right=False)
            verdict = self.page.locator(f".st-key-lesson-verdict-{number}").inner_text()
            if card.reveal and card.reveal[:20] in verdict:
                raise Stuck("a wrong answer shows the solution")
            if card.predict:
                self._press(".st-key-lesson-view a")
                self._require_open(entry)
                self._go_back_to(f".st-key-lesson-again-{number}")
            if (read := self._read(entry)) is not None:
                answer = Answer(read, next(iter(read_numbers(read)), read))
                self.score.read += 1
            self._press(f".st-key-lesson-again-{number} button")
            old = f".st-key-lesson-verdict-{number}, .st-key-lesson-again-{number}"
            self._wait(f"!document.querySelector({old!r})", "no new try")
            self._wait_for_focus(".st-key-lesson input")
            self._answer(number, card, answer, right=True)
        if number % 3 == 2:
            self._resume(number)

    def _read(self, entry: KeyEntry) -> str | None:
        """Read the answer from the lit picture; None where that says it in its own way."""
        card, asked = entry.card, entry.card.answer
        if asked is None:
            return None
        if card.light == "links" and asked.measure == "subwords":
            slider = self.page.locator(".hl-player-controls input[type=range]")
            return str(int(slider.get_attribute("max") or 0) - 1)  # the last state has all words
        self._rest()
        if card.light == "row" and asked.measure in INSIDE:
            rows = self.page.evaluate(TABLE)[1:]
            place = INSIDE[asked.measure]
            if asked.measure == "strongest":
                return max(rows, key=lambda row: float(row[place]))[0]
            return next(row[place] for row in rows if row[0] == asked.arguments["column"])
        if card.light != "map" or "row" not in asked.arguments:
            return None
        named, rows = asked.arguments["row"], self.page.evaluate(TABLE)[1:]
        by_name = (row for row in rows if named in row[:-2])
        row = rows[named - 1] if isinstance(named, int) else next(by_name)
        if asked.measure.startswith("strongest"):
            return row[-2]
        if asked.measure == "weight":
            is_largest = row[-2] == asked.arguments["column"] or asked.arguments["column"] == 1
            return row[-1] if is_largest else f"{1 - float(row[-1]):.2f}"
        return None

    def _answer(self, number: int, card: Card, answer: Answer, *, right: bool) -> None:
        if card.choices:
            index = [is_right(card, choice.text, answer) for choice in card.choices].index(right)
            field = f".st-key-lesson-chosen-{number} input"
            self._reach(field)
            self.page.keyboard.press("Space")
            for _ in range(index):
                self.page.keyboard.press("ArrowDown")
            self._press(f".st-key-lesson-check-{number} button")
        else:
            self._reach(f".st-key-lesson-typed-{number} input")
            self.page.keyboard.type(
                format_answer(answer, self.lesson.language) if right else _wrong(answer)
            )
            self.page.keyboard.press("Enter")
        label = "right" if right else "wrong"
        begin = self.texts[label].partition("{")[0].strip()
        self._wait(
            f"document.querySelector('.st-key-lesson-verdict-{number}')?.innerText.trim()"
            f".startsWith({begin!r})",
            f"no verdict “{begin}”",
        )
        self._wait_for_focus(f".st-key-lesson-verdict-{number}")
        setattr(self.score, label, getattr(self.score, label) + 1)

    def _require_open(self, entry: KeyEntry) -> None:
        opened = self.texts["opened"]
        self._wait(
            f"document.querySelector('.st-key-lesson-view')?.innerText.includes({opened!r})",
            "it does not say that its view is open",
        )
        self.score.opened += 1
        if entry.card.light is not None:
            self._wait(f"({LIT})() === ''", f"{entry.card.light} is not in sight")
            self.score.lit += 1

    def _resume(self, number: int) -> None:
        """Require the same card of its address in a new browser."""
        self._rest()
        shown = self.page.evaluate(CARD)
        context = self.browser.new_context(**self.screen)
        here, self.page = self.page, context.new_page()
        try:
            self.page.goto(here.url)
            self._wait_for_card(number)
            self._wait(
                f"JSON.stringify(({CARD})()) === JSON.stringify({json.dumps(shown)})",
                f"resumed without {shown}",
            )
        finally:
            context.close()
            self.page = here
        self.score.resumed += 1

    def _press(self, place: str, most: int = NEAR_TABS) -> None:
        """Press Enter on what Tab reaches."""
        self._reach(place, most)
        self.page.keyboard.press("Enter")

    def _reach(self, place: str, most: int = NEAR_TABS) -> None:
        """Bring the focus to a place by Tab, and require that it can be seen there."""
        self._rest()
        # Streamlit loads the script of a kind of field as the first one is drawn
        self._wait(f"!!document.querySelector({place!r})", f"{place} is not drawn")
        if most == NEAR_TABS:  # a page that redraws the card gives it the focus again
            self._wait("document.activeElement !== document.body", "nothing has the focus")
            end = time.monotonic() + GIVEN_BACK
            while time.monotonic() < end and not self.page.evaluate(IN_PANEL):
                self.page.wait_for_timeout(50)
        # a card that is redrawn between two presses is passed by, and reached on the way back
        for key in [*["Tab"] * most, *["Shift+Tab"] * most]:
            if self.page.evaluate(FOCUSED, place):
                break
            self.page.keyboard.press(key)
        self._wait(f"({FOCUSED})({place!r})", f"{most} presses of Tab do not reach {place}", 1000)
        self._wait(f"({IN_SIGHT})()", f"{place} is covered", 1000)

    def _go_back_to(self, place: str) -> None:
        """Bring the focus back to a place by Shift and Tab."""
        for _ in range(5):
            if self.page.evaluate(FOCUSED, place):
                return
            self.page.keyboard.press("Shift+Tab")
        raise Stuck(f"Shift and Tab do not reach {place}")

    def _rest(self) -> None:
        """Wait for the end of a run and the frames after it, as a student does."""
        self._wait(f"!!document.querySelector('{AT_REST}')", "the page does not come to rest")
        self.page.evaluate(TWO_FRAMES)

    def _wait_for_focus(self, place: str) -> None:
        """Wait for the focus that the page moves by itself, a moment after it has drawn a place."""
        self._wait(f"({FOCUSED})({place!r})", f"the focus does not move to {place}")

    def _wait_for_card(self, number: int) -> None:
        self._wait(
            f"!!document.querySelector('{AT_REST} .st-key-lesson-card-{number}')",
            f"card {number + 1} does not come",
        )

    def _wait(self, condition: str, problem: str, patience: int = PATIENCE) -> None:
        end = time.monotonic() + patience / 1000
        while not self.page.evaluate(condition):  # `wait_for_function` needs 'unsafe-eval'
            if time.monotonic() > end:
                focused = self.page.evaluate("document.activeElement.outerHTML.slice(0, 80)")
                raise Stuck(f"{problem}; the focus is at {focused}")
            self.page.wait_for_timeout(30)


def _wrong(answer: Answer) -> str:
    return "zebra" if isinstance(answer.value, str) else f"{answer.value + 7:.2f}"
