"""The puzzles that come with the app, each computed again with other code."""

import re

import numpy as np
import pytest
import torch

from transformer import silence
from transformer.files.installed import ASSETS
from transformer.kinds import attention_name
from viz.lessons import read_lesson
from viz.lessons.grading import parameters
from viz.lessons.puzzles import find_puzzles
from viz.lessons.reading import parse_lesson
from viz.lessons.writing import puzzle_file

KINDS = {"encoder": "encoder_self", "decoder": "decoder_self", "cross": "cross"}
FILE = ASSETS / "lessons" / "puzzles.en.md"
CARDS = read_lesson(FILE).cards


def place(name):
    ((layer, head, kind),) = re.findall(r"^L(\d+) H(\d+) · (\w+)", name)
    return KINDS[kind], int(layer) - 1, int(head) - 1


def position(tokens, word):
    (index,) = (n for n, token in enumerate(tokens) if token == f"▁{word}")
    return index


def link(translator, trace, card, names):
    ((column, row),) = re.findall("at “(.+)” in the row that predicts “(.+)”", card.ask)
    row, column = position(trace.target_tokens, row), position(trace.source_tokens, column)
    maps = [trace.cross[place(name)[1:]] for name in names]
    weights = [weights[row, column] for weights in maps]
    assert all(weight >= 0.9 or weight <= 0.2 for weight in weights)
    # where it reads the word, no wrong head looks there either
    later = [weights[row + 1, column] for weights in maps]
    assert all(now >= 0.9 or after <= 0.4 for now, after in zip(weights, later, strict=True))
    return [weight >= 0.9 for weight in weights]


def before(translator, trace, card, names):
    maps = [trace.encoder_self[place(name)[1:]] for name in names]
    means = [np.mean([weights[n, n - 1] for n in range(1, len(weights))]) for weights in maps]
    assert all(mean >= 0.6 or mean <= 0.2 for mean in means)
    return [mean >= 0.6 for mean in means]


def removal(translator, trace, card, names):
    (word,) = re.findall("“(.+)”", card.ask)
    texts = []
    for name in names:
        kind, layer, head = place(name)
        hook = {f"{attention_name(kind, layer)}.hook_z": silence(head=head)}
        with translator.model.hooks(hook):
            texts.append(translator.translate(trace.source).text)
    assert word in trace.target.rstrip(".!?").split()
    # one alone changes the translation at all
    assert sum(text != trace.target for text in texts) == 1
    return [word not in re.findall(r"\w+", text) for text in texts]


def end(translator, trace, card, names):
    layer, head = (int(number) - 1 for number in re.findall(r"[LH](\d)", card.ask))
    rows = [position(trace.source_tokens, name) for name in names]
    weights = trace.encoder_self[layer, head][rows, trace.source_tokens.index("</s>")]
    assert sorted(weights)[-1] >= 0.6
    assert sorted(weights)[-2] <= 0.3
    return [weight == weights.max() for weight in weights]


def uncertain(translator, trace, card, names):
    log_p = translator.score(trace.source, trace.target).log_probs
    return [position(trace.target_tokens, name) == int(np.argmin(log_p)) for name in names]


def positions(translator, trace, card, names):
    def translated(*stacks):
        hooks = {f"{stack}.embedding.hook_positions": zero for stack in stacks}
        with translator.model.hooks(hooks):
            return translator.translate(trace.source).text == trace.target

    def zero(value, _name):
        return torch.zeros_like(value)

    truths = {
        "without those of the encoder": translated("encoder"),
        "without those of the decoder": translated("decoder"),
        "without any positions": translated("encoder", "decoder"),
    }
    truths["in none of these cases"] = not any(truths.values())
    return [truths[name] for name in names]


AGAIN = {
    "makes this link": link,
    "looks back": before,
    "head is needed": removal,
    "looks at the end": end,
    "least certain": uncertain,
    "positions are needed": positions,
}


@pytest.mark.parametrize("number", range(len(CARDS)))
def test_exactly_the_expected_choice_is_right(bundled, number):
    card = CARDS[number]
    (again,) = (check for words, check in AGAIN.items() if words in card.title)
    names = [choice.text for choice in card.choices]
    trace = bundled.trace(parameters(card)["text"])
    truths = again(bundled, trace, card, names)
    assert sum(truths) == 1
    if card.answer is None:
        assert truths == [choice.right for choice in card.choices]
    else:
        assert card.answer.measure == "least certain"


def test_they_are_varied_and_two_a_kind_have_two_answers():
    kinds = [card.title for card in CARDS]
    assert len(CARDS) == 10
    assert len(set(kinds)) == len(AGAIN)
    assert max(map(kinds.count, kinds)) <= 3
    right = [(card.title, c.text) for card in CARDS for c in card.choices if c.right]
    assert len(set(right)) == len(right)
    assert len({parameters(card)["text"] for card in CARDS}) == len(CARDS)


@pytest.mark.slow
def test_the_command_s_search_is_the_same_each_time(bundled):
    lines = (ASSETS / "examples.txt").read_text("utf-8").splitlines()
    puzzles = list(find_puzzles(bundled, lines, 2))
    cards = read_lesson(FILE).cards[:2]
    lesson = parse_lesson("puzzles", puzzle_file(puzzles, True, "x"), "puzzles.md")
    assert (lesson.language, lesson.model, lesson.minutes) == ("en", "bundled", 4)
    parts = [[(c.view, c.ask, c.choices) for c in other] for other in (lesson.cards, cards)]
    assert parts[0] == parts[1]


@pytest.mark.slow
def test_few_and_strange_lines_give_what_there_is(bundled):
    lines = ["", "A dog sleeps.", "A dog sleeps.", "x" * 100_000, "\ud800"]
    assert [puzzle.source for puzzle in find_puzzles(bundled, lines, 10)] == ["A dog sleeps."]
