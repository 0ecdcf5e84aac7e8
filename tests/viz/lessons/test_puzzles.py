"""The puzzles that come with the app: the marked choice is clearly right, and no other is."""

import re

import numpy as np
import pytest

from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal, removed
from transformer.analysis.heads.removal_text import parse_removals
from transformer.files import installed
from transformer.paper.positions import Edit, Stack
from viz.draw.labels import KINDS_BY_NAME
from viz.lessons import grading, read_lesson
from viz.lessons.measures import Sentence

CARDS = read_lesson(installed.ASSETS / "lessons" / "puzzles.en.md").cards
STACKS: dict[str, tuple[Stack, ...]] = {
    "without those of the encoder": ("encoder",), "without those of the decoder": ("decoder",),
    "without any positions": ("encoder", "decoder"), "in none of these cases": (),
}  # fmt: skip


def head_of(title: str) -> Head:
    return parse_removals(title.replace("·", ""), None)[0][0].place


def is_true(sentence: Sentence, card, choice: str) -> bool:
    """Return whether a choice is right; fail if it is neither clearly right nor wrong."""
    words = re.findall("“([^”]*)”", card.ask)
    translator, trace, shown = sentence.translator, sentence.trace, grading.parameters(card)
    match card.title:
        case "Which head makes this link?":
            weights = sentence.map(head_of(choice))
            row, column = sentence.row("cross", words[1]), sentence.column("cross", words[0])
            value = max(weights[row, column], weights[row + 1, column] / 2)
            right, wrong = value >= 0.9, value <= 0.2
        case "Which head looks back?":
            value = np.diagonal(sentence.map(head_of(choice)), -1).mean()
            right, wrong = value >= 0.6, value <= 0.2
        case "Which head is needed?":
            with removed(translator, [Removal(*head_of(choice))]):
                text = translator.translate(trace.source).text
            right, wrong = words[0] not in re.findall(r"\w+", text), text == trace.target
        case "Who looks at the end?":
            kind = KINDS_BY_NAME[shown["kind"]]
            weights = sentence.map(Head(kind, int(shown["layer"]) - 1, int(shown["head"]) - 1))
            value = weights[sentence.row(kind, choice), -1]
            right, wrong = value >= 0.6, value <= 0.3
        case "Which positions are needed?":
            texts = []
            alone: list[tuple[Stack, ...]] = [("encoder",), ("decoder",)]
            for stacks in [STACKS[choice]] if STACKS[choice] else alone:
                with translator.model.hooks(Edit("removed", stacks).hooks()):
                    texts.append(translator.translate(trace.source).text)
            right = (texts[0] == trace.target) if STACKS[choice] else trace.target not in texts
            wrong = not right
    assert right != wrong, choice
    return right


@pytest.mark.parametrize("card", {card.title: card for card in CARDS}.values())  # of each kind
def test_exactly_the_marked_choice_is_right(bundled, card):
    sentence = Sentence(bundled, bundled.trace(grading.parameters(card)["text"]))
    if card.answer is None:
        for choice in card.choices:
            assert is_true(sentence, card, choice.text) == choice.right
    else:
        assert card.answer.measure == "least certain"
        first, second = np.sort(np.exp(sentence.trace.log_probs))[:2]
        assert first <= 0.75 * second


def test_they_are_varied_and_each_has_a_hint_and_a_reason():
    assert (len(CARDS), len({card.title for card in CARDS})) == (10, 6)
    assert all(card.light and card.hint and card.reveal for card in CARDS)
    right = [(card.title, c.text) for card in CARDS for c in card.choices if c.right]
    assert len(set(right)) == len(right)
    assert len({grading.parameters(card)["text"] for card in CARDS}) == len(CARDS)
