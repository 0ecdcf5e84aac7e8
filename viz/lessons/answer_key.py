"""Answer key of a lesson: the right answers, computed with a model before anybody is asked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from transformer import HeadlightError, Translator
from transformer.kinds import Kind
from viz.draw.labels import KINDS_BY_NAME
from viz.lessons.grading import Answer, is_right, right_answer
from viz.lessons.lesson import Card, Lesson
from viz.lessons.measures import Sentence


class KeyEntry(NamedTuple):
    """A card with its answer."""

    card: Card
    sentence: Sentence | None  # the sentence that it is about; None where it is the reader's own
    # the right answer; None without a question, for the reader's own sentence, and with a problem
    answer: Answer | None
    problem: str  # a sentence on why the card cannot be asked with this model, or ""


def answer_key(lesson: Lesson, translator: Translator) -> Iterator[KeyEntry]:
    """Compute the answer of each card, on the sentence in its link or else of the lesson."""

    @cache
    def translated(text: str) -> Sentence:
        return Sentence(translator, translator.trace(text))

    for card in lesson.cards:
        text = parameters(card).get("text", lesson.sentence)
        sentence = None
        try:
            sentence = translated(text) if text else None
            answer = right_answer(card, sentence) if card.ask else None
        except HeadlightError as error:
            yield KeyEntry(card, sentence, None, str(error))
        else:
            yield KeyEntry(card, sentence, answer, _problem_of_choices(card, answer))


def _problem_of_choices(card: Card, answer: Answer | None) -> str:
    right = sum(answer is not None and is_right(card, c.text, answer) for c in card.choices)
    if answer is None or not card.choices or right == 1:
        return ""
    return f"{right or 'none'} of the choices is the answer, which is {answer.text!r}."


def parameters(card: Card) -> dict[str, str]:
    """Return the parameters in the link of a card, the last of each name."""
    return dict(parse_qsl(urlsplit(card.view.url).query)) if card.view else {}


def head_in_link(card: Card) -> tuple[Kind, int | None, int | None] | None:
    """Return kind, layer and head, from 0, that a link opens, None for a mean; None if it has none.

    Cross-attention is what the pages open by themselves.
    """
    query = parameters(card)
    if not {"layer", "head"} <= query.keys():
        return None
    layer, head = (
        int(query[name]) - 1 if query[name].isdecimal() else None for name in ("layer", "head")
    )
    return KINDS_BY_NAME.get(query.get("kind", "cross"), "cross"), layer, head
