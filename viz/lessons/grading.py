"""Answers to cards: the right one for a sentence, and whether one that was given is right."""

import re
from typing import NamedTuple

from transformer.text.words import has_letter
from viz.lessons.lesson import Card, Language
from viz.lessons.measures import MEASURES, NO, YES, Sentence, Value

_NUMBER = re.compile(r"\s*([-−+]?)\s*(\d+(?:[.,]\d+)?(?:e[-−+]?\d+)?)\s*(%?)\s*", re.IGNORECASE)

_GERMAN = {YES: "ja", NO: "nein"}


class Answer(NamedTuple):
    """The right answer to a card on a sentence."""

    text: str  # as it is shown
    value: Value  # what was measured, or the text of the right choice


def right_answer(card: Card, sentence: Sentence | None) -> Answer | None:
    """Compute the right answer to a card; None where a sentence is needed and there is none."""
    if card.answer is None:
        text = next((choice.text for choice in card.choices if choice.right), "")
        return Answer(text, text)
    if sentence is None:
        return None
    measure = MEASURES[card.answer.measure]
    value = measure.compute(sentence, card.answer.arguments)
    return Answer(measure.text(value), value)


def is_right(card: Card, given: str, answer: Answer) -> bool:
    """Return whether an answer is right: the same word, or a number within tolerance."""
    if card.choices or isinstance(answer.value, str):
        return _plain(given) in (_plain(answer.text), _plain(in_language(answer, "de")))
    number = read_number(given)
    tolerance = 0.0 if card.answer is None else card.answer.tolerance
    # what is shown rounded may be copied
    shown = read_number(answer.text)
    return number is not None and (
        abs(number - answer.value) <= tolerance or (shown is not None and number == shown)
    )


def read_number(text: str) -> float | None:
    """Read a number with a decimal point or comma, or per cent; None if it is none."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    number = float(match[2].replace(",", ".").replace("−", "-"))
    number = -number if match[1] in ("-", "−") and match[1] else number
    return number / 100 if match[3] else number


def _plain(text: str) -> str:
    """Return a word as it is compared: without quotation marks, backticks, `·` and the case."""
    stripped = text.strip().strip("“”„\"'‘’·`").casefold()
    return stripped if has_letter(stripped) else text.strip()


def in_language(answer: Answer, language: Language) -> str:
    """Format an answer in a language: yes and no, and the decimal mark."""
    if language == "en":
        return answer.text
    if isinstance(answer.value, str):
        return _GERMAN.get(answer.text, answer.text)
    return answer.text.replace(".", ",")
