"""The puzzles that come with the app have the answers that the code finds for them."""

import math
import random
import re

import pytest

from transformer.files import installed
from viz.lessons import grading, measures, puzzles, read_lesson, writing

FILE = installed.ASSETS / "lessons" / "puzzles.en.md"
CARDS = read_lesson(FILE).cards


# the last card of each kind
@pytest.mark.parametrize("card", {card.title: card for card in CARDS}.values())
def test_exactly_the_expected_choice_is_right(bundled, card):
    (kind,) = (kind for kind, (title, *_) in writing._CARDS.items() if title == card.title)
    pattern = re.sub(r"\\\{(\d)\\\}", r"(?P<n\1>.+)", re.escape(writing._CARDS[kind][2]))
    asked = re.fullmatch(pattern, card.ask)
    assert asked is not None
    names = [name for _, name in sorted(asked.groupdict().items())]
    shown = grading.parameters(card)
    if kind == "removal":
        names += [shown["kind"], shown["layer"]]
    sentence = measures.Sentence(bundled, bundled.trace(shown["text"]))
    values = puzzles.PUZZLE_KINDS[kind].values(sentence, tuple(names))
    stacks = {text: stack for stack, text in writing._STACKS.items()}
    texts = [choice.text for choice in card.choices]
    choices = {text: values[stacks.get(text, text)] for text in texts}
    right, wrong = puzzles.PUZZLE_KINDS[kind].sides(choices)
    assert (len(right), len(wrong)) == (1, len(choices) - 1)
    if card.answer is None:
        assert right == [choice.text for choice in card.choices if choice.right]
    else:
        assert card.answer.measure == "least certain"


def test_each_has_a_hint_and_a_reason_of_its_question():
    for card in CARDS:
        assert card.light
        assert card.hint
        assert card.reveal
    for name in ("link", "before", "end"):  # what the reason says is how the choices are chosen
        kind, reason = puzzles.PUZZLE_KINDS[name], writing._CARDS[name][4]
        assert re.findall(r"0\.\d", reason) == [f"{kind.clear}", f"{kind.faint}"]
    assert math.exp(-puzzles.PUZZLE_KINDS["uncertain"].clear) < 0.75


def test_none_of_the_others_stands_last(bundled, monkeypatch):
    values = {"neither": 0.0, "encoder": 0.0, "decoder": 1.0}
    kind = puzzles.PUZZLE_KINDS["positions"]._replace(values=lambda *_: values)
    monkeypatch.setattr(puzzles, "PUZZLE_KINDS", {"positions": kind})
    sentence = measures.Sentence(bundled, bundled.trace("A dog sleeps."))
    for seed in range(8):
        puzzle = puzzles._find(sentence, "positions", random.Random(seed))
        assert puzzle is not None
        assert puzzle.choices[-1] == "neither"


def test_they_are_varied_and_two_a_kind_have_two_answers():
    kinds = [card.title for card in CARDS]
    assert len(CARDS) == 10
    assert len(set(kinds)) == len(puzzles.PUZZLE_KINDS)
    assert max(map(kinds.count, kinds)) <= 3
    right = [(card.title, c.text) for card in CARDS for c in card.choices if c.right]
    assert len(set(right)) == len(right)
    assert len({grading.parameters(card)["text"] for card in CARDS}) == len(CARDS)
