"""Answer key of a lesson: the right answers, computed with a model in advance."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from transformer import AttentionTrace, HeadlightError, Translator
from transformer.analysis.heads.head import Head
from transformer.kinds import Kind
from viz.draw.labels import KINDS_BY_NAME
from viz.lessons.grading import Answer, is_right, right_answer
from viz.lessons.lesson import Card, Lesson
from viz.lessons.measures import MARGIN, Sentence, too_close


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
