"""Notebook of a lesson: its cards as Markdown, its views and answers as cells that compute them."""

import json
from collections.abc import Iterator, Sequence

from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal_text import format_removals
from viz.lessons.grading import KeyEntry, head_in_link, parameters
from viz.lessons.lesson import Card, Language, Lesson, Measurement
from viz.lessons.writing import plain_markdown

Cell = tuple[str, str]  # type of a cell, `markdown` or `code`, and its text

SENTENCE = "A man rides a horse."  # the sentence of a lesson that names none

TEXTS: dict[Language, dict[str, str]] = {
    "en": {
        "goal": "Goal: {} · {} minutes", "model": "or the folder of another model",
        "own": "or a sentence of your own", "open": "In the app:",
        "after": "Answer first, then run this cell.",
    },
    "de": {
        "goal": "Ziel: {} · {} Minuten", "model": "oder der Ordner eines anderen Modells",
        "own": "oder ein eigener Satz", "open": "In der App:",
        "after": "Antworte zuerst, dann führe diese Zelle aus.",
    },
}  # fmt: skip


def notebook(lesson: Lesson, key: Sequence[KeyEntry]) -> str:
    """Make the notebook, as JSON of nbformat 4.5."""
    cells = [_cell(number, *cell) for number, cell in enumerate(_cells(lesson, key))]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    content = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _cell(number: int, kind: str, text: str) -> dict[str, object]:
    source = text.splitlines(keepends=True)
    cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source}
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else {**cell}


def _cells(lesson: Lesson, key: Sequence[KeyEntry]) -> Iterator[Cell]:
    texts = TEXTS[lesson.language]
    goal = texts["goal"].format(plain_markdown(lesson.goal), lesson.minutes)
    yield "markdown", f"# {plain_markdown(lesson.title)}\n\n{goal}\n\n{lesson.text}".rstrip()
    sentence = first = lesson.sentence or SENTENCE
    yield (
        "code",
        "from headlight import Translator, explore\n"
        "from viz.lessons.measures import Sentence, measured\n\n"
        f"translator = Translator.load()  # {texts['model']}\n"
        f"{_traced(sentence)}{'' if lesson.sentence else '  # ' + texts['own']}\n"
        "sentence.trace.target",
    )
    for card, _, answer, problem in key:
        yield "markdown", _card(card, texts)
        wanted = parameters(card).get("text", first)
        if wanted != sentence:
            sentence = wanted
            yield "code", f"{_traced(sentence)}\nsentence.trace.target"
        if head := head_in_link(card):
            yield "code", f"explore(sentence.trace, selected={head!r})"
        if card.ask and not problem:
            # a choice that the file marks is right by itself
            computed = _call(card.answer) if card.answer else repr(answer.text if answer else "")
            yield "code", f"# {texts['after']}\n{computed}"


def _traced(text: str) -> str:
    return f"sentence = Sentence(translator, translator.trace({text!r}))"


def _card(card: Card, texts: dict[str, str]) -> str:
    link = f"{texts['open']} `{card.view.url}`" if card.view else ""
    choices = "\n".join(f"- {choice.text}" for choice in card.choices)
    parts = (
        f"## {plain_markdown(card.title)}",
        card.text,
        link,
        card.ask and f"**{card.ask}**",
        choices,
    )
    return "\n\n".join(filter(None, parts))


def _call(answer: Measurement) -> str:
    given = "".join(f", {n}={_written(v)!r}" for n, v in answer.arguments.items())
    return f"measured(sentence, {answer.measure!r}{given})"


def _written(value: object) -> object:
    if isinstance(value, Head):
        return value.title
    return format_removals(value) if isinstance(value, list) else value
