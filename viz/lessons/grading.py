"""Answers to cards: the right one for a sentence, the key of a lesson, and whether one is right."""

from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

from transformer import AttentionTrace, HeadlightError, Translator, kinds
from transformer.analysis.heads.head import Head
from transformer.text.words import has_letter
from viz.draw.labels import KINDS_BY_NAME, display_tokens
from viz.lessons.lesson import Card, Language, Lesson
from viz.lessons.measures import MARGIN, MEASURES, NO, YES, Sentence, Value, too_close
from viz.lessons.numbers import read_numbers

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
        return plain(given) in (plain(answer.text), plain(format_answer(answer, "de")))
    tolerance = 0.0 if card.answer is None else card.answer.tolerance
    shown = read_numbers(answer.text)  # rounded: it may be copied
    return any(
        abs(number - answer.value) <= tolerance or number in shown for number in read_numbers(given)
    )


def missing(card: Card, given: str) -> Literal["", "blank", "number"]:
    """Return the name of the text that asks for an answer where there is none, or ""."""
    if not given.strip(" ?"):
        return "blank"
    asks_number = not card.choices and card.answer and MEASURES[card.answer.measure].is_number
    return "number" if asks_number and not read_numbers(given) else ""


def plain(text: str) -> str:
    """Return a word as it is compared: without quotation marks, backticks, `·` and the case.

    Pictures name `<s>` *start* and `</s>` *end*: either name is right.
    """
    stripped = text.strip().strip("“”„\"'‘’·`").casefold()
    return display_tokens([stripped])[0] if has_letter(stripped) else text.strip()


def format_answer(answer: Answer, language: Language) -> str:
    """Format an answer in a language: yes and no, and the decimal mark."""
    if language == "en":
        return answer.text
    if isinstance(answer.value, str):
        return _GERMAN.get(answer.text, answer.text)
    return answer.text.translate({ord("."): ",", ord(","): "."})


class KeyEntry(NamedTuple):
    """A card with its answer."""

    card: Card
    sentence: Sentence | None  # the sentence that it is about; None where it is the student's own
    # the right answer; None without a question, for the student's own sentence, and with a problem
    answer: Answer | None
    problem: str  # a sentence on why the card cannot be asked with this model, or ""


def answer_key(
    lesson: Lesson, translator: Translator, own: AttentionTrace | None = None
) -> Iterator[KeyEntry]:
    """Compute the answer of each card on its sentence; `own` is the student's, if there is one."""

    @cache
    def translated(text: str) -> Sentence:
        return Sentence(translator, own if own and own.source == text else translator.trace(text))

    for card in lesson.cards:
        text = lesson.sentence_of(card) or (own.source if own else "")
        sentence = None
        try:
            sentence = translated(text) if text else None
            answer = right_answer(card, sentence) if card.ask else None
        except HeadlightError as error:
            yield KeyEntry(card, sentence, None, str(error))
        else:
            yield KeyEntry(card, sentence, answer, _problem(card, sentence, answer))


def _problem(card: Card, sentence: Sentence | None, answer: Answer | None) -> str:
    """Return a sentence on a question that a careful student can answer wrongly, or ""."""
    asked, linked = card.answer, head_in_link(card)
    head = asked.arguments.get("head") if asked else None
    if isinstance(head, Head) and linked and None not in linked and linked != head:
        return f"the link opens another head than {head.title}, which is measured: link that one."
    if asked and sentence and (second := too_close(sentence, asked.measure, asked.arguments)):
        return (
            f"{second!r} comes within {MARGIN:.0%} of the answer: ask about a row, a head or a "
            "sentence where one is clearly the largest."
        )
    right = sum(answer is not None and is_right(card, c.text, answer) for c in card.choices)
    if answer is None or not card.choices or right == 1:
        return ""
    return f"{right or 'none'} of the choices is the answer, which is {answer.text!r}."


def parameters(card: Card) -> dict[str, str]:
    """Return the parameters in the link of a card, the last of each name."""
    return {name: values[-1] for name, values in card.view.choices.items()} if card.view else {}


def head_in_link(card: Card) -> tuple[kinds.Kind, int | None, int | None] | None:
    """Return the kind, and layer and head from 0 or None for a mean, that a link opens, if any."""
    query = parameters(card)
    if not {"layer", "head"} <= query.keys():
        return None
    layer, head = (
        int(query[name]) - 1 if query[name].isdecimal() else None for name in ("layer", "head")
    )
    return KINDS_BY_NAME.get(query.get("kind", "cross"), "cross"), layer, head
