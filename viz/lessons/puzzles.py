"""Puzzles for the model at hand: questions with three or four choices, exactly one of them true.

Weights change with each training, so no puzzle is written by hand: each is searched for.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transformer import KINDS, InputError, Translator, kinds
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.removal import Removal, removed
from transformer.config import EOS
from transformer.paper.positions import Edit
from transformer.text.tokenizer import SPECIAL
from viz.draw.labels import KINDS_BY_NAME, SCREEN_NAMES, display_tokens
from viz.lessons.measures import Sentence

MAX_PER_KIND = 3
_WRONG = 3  # choices, at most
_TRIES = 4  # questions of a kind on one sentence
_LAYERS = 3  # in which heads are removed on one sentence
_NONE = "neither"
_WORD = re.compile(r"\w+")

Names = tuple[str, ...]  # words, kinds and numbers from 1 in a question
Values = dict[str, float]  # by choice: a number that says how right it is


class PuzzleKind(NamedTuple):
    """A kind of question."""

    names: Callable[[Sentence, Random], list[Names]]  # lists what it can name on a sentence
    values: Callable[[Sentence, Names], Values]  # computes the value of every choice there is
    clear: float  # smallest value of a right choice
    faint: float  # largest value of a wrong one

    def sides(self, values: Values) -> tuple[list[str], list[str]]:
        """Return the choices that are clearly right, and those that are clearly wrong."""
        right = [choice for choice, value in values.items() if value >= self.clear]
        return right, [choice for choice, value in values.items() if value <= self.faint]


class Puzzle(NamedTuple):
    """A question on a sentence, with its choices and the right one."""

    kind: str
    source: str
    names: Names
    choices: list[str]
    right: str


def find_puzzles(translator: Translator, lines: Iterable[str], count: int) -> Iterator[Puzzle]:
    """Find at most `count` puzzles, three of a kind with different answers; always the same."""
    draw, texts = Random(0), list(dict.fromkeys(lines))
    draw.shuffle(texts)
    numbers = Counter(dict.fromkeys(PUZZLE_KINDS, 0))
    seen: set[Names] = set()
    for text in texts:
        if numbers.total() >= count:
            return
        try:
            sentence = Sentence(translator, translator.trace(text))
        except InputError:  # a line that is blank, or longer than the model reads
            continue
        for kind in sorted(numbers, key=lambda kind: numbers[kind]):  # the rarest first
            puzzle = _find(sentence, kind, draw) if numbers[kind] < MAX_PER_KIND else None
            if puzzle is None:
                continue
            keys = {(kind, puzzle.right), (kind, *(puzzle.names or (text,)))}
            if seen.isdisjoint(keys):
                seen |= keys
                numbers[kind] += 1
                yield puzzle
                break


def _find(sentence: Sentence, name: str, draw: Random) -> Puzzle | None:
    kind = PUZZLE_KINDS[name]
    questions = kind.names(sentence, draw)
    for names in draw.sample(questions, min(_TRIES, len(questions))):
        right, wrong = kind.sides(kind.values(sentence, names))
        if right and len(wrong) >= _WRONG - 1:
            answer = draw.choice(right)
            choices = [answer, *draw.sample(wrong, min(_WRONG, len(wrong)))]
            draw.shuffle(choices)
            choices.sort(key=lambda choice: choice == _NONE)  # none of the others stands last
            return Puzzle(name, sentence.trace.source, names, choices, answer)
    return None


def _heads(sentence: Sentence, kind: kinds.Kind) -> dict[str, Head]:
    heads = all_heads(sentence.translator.model.config)
    return {head.title: head for head in heads if head.kind == kind}


def _by_head(
    sentence: Sentence, kind: kinds.Kind, value: Callable[[npt.NDArray[np.float32]], np.floating]
) -> Values:
    return {n: float(value(sentence.map(head))) for n, head in _heads(sentence, kind).items()}


def _words(tokens: tuple[str, ...]) -> list[str]:
    """Return the tokens that are whole words of letters and stand there once."""
    shown = display_tokens(tokens)
    return [
        word
        for word, following in zip(shown, [*shown[1:], ""], strict=True)
        if word.isalpha() and shown.count(word) == 1 and not following.startswith("·")
    ]


def _no_names(_sentence: Sentence, _draw: Random) -> list[Names]:
    return [()]


def _without(sentence: Sentence, kind: kinds.Kind, layer: int) -> dict[str, str]:
    """Translate without each head of a layer, from 0, one at a time."""
    translations: dict[str, str] = {}
    for name, head in _heads(sentence, kind).items():
        if head.layer == layer:
            with removed(sentence.translator, [Removal(*head)]):
                translations[name] = sentence.translator.translate(sentence.trace.source).text
    return translations


def _lost_words(sentence: Sentence, draw: Random) -> list[Names]:
    """List words that are lost without a head of some layers, with its kind and layer."""
    config = sentence.translator.model.config
    layers = [(kind, layer) for kind in KINDS for layer in range(config.stack(kind).N)]
    return [
        (word, SCREEN_NAMES[kind], str(layer + 1))
        for kind, layer in draw.sample(layers, min(_LAYERS, len(layers)))
        for text in _without(sentence, kind, layer).values()
        for word in _words(sentence.trace.target_tokens)
        if word not in _WORD.findall(text)
    ]


def _losses(sentence: Sentence, names: Names) -> Values:
    """Return for each head of a layer 1 if a word is lost without it, and 0 if nothing changes."""
    word, kind, layer = names
    translations = _without(sentence, KINDS_BY_NAME[kind], int(layer) - 1)
    return {
        name: 0 if text == sentence.trace.target else 1 if word not in _WORD.findall(text) else 0.5
        for name, text in translations.items()
    }


def _word_pairs(sentence: Sentence, _draw: Random) -> list[Names]:
    labels = sentence.trace.labels("cross")
    return [(row, column) for row in _words(labels.queries) for column in _words(labels.keys)]


def _weights(sentence: Sentence, names: Names) -> Values:
    row, column = sentence.row("cross", names[0]), sentence.column("cross", names[1])
    # one that looks there a row later, where it reads the word, is neither right nor wrong
    return _by_head(
        sentence, "cross", lambda weights: max(weights[row, column], weights[row + 1, column] / 2)
    )


def _before(sentence: Sentence, _names: Names) -> Values:
    """Return the mean weight of each encoder head on the subword just before."""
    return _by_head(sentence, "encoder_self", lambda weights: np.diagonal(weights, -1).mean())


def _surprises(sentence: Sentence, _names: Names) -> Values:
    """Return −log p of each word less the second largest, in nats: one alone is above 0."""
    surprise, tokens = -sentence.trace.log_probs, sentence.trace.target_tokens
    second, words = np.sort(surprise)[-2:][0], display_tokens(tokens)
    return {word: float(surprise[words.index(word)] - second) for word in _words(tokens)}


def _encoder_heads(sentence: Sentence, _draw: Random) -> list[Names]:
    heads = _heads(sentence, "encoder_self").values()
    return [(str(head.layer + 1), str(head.head + 1)) for head in heads]


def _ends(sentence: Sentence, names: Names) -> Values:
    """Return the weight that each word gives to `</s>` under an encoder head."""
    tokens = sentence.trace.labels("encoder_self").keys
    weights = sentence.map(Head("encoder_self", int(names[0]) - 1, int(names[1]) - 1))
    end = SPECIAL[EOS]
    rows = {word: sentence.row("encoder_self", word) for word in _words(tokens) if end in tokens}
    return {word: float(weights[row, tokens.index(end)]) for word, row in rows.items()}


def _unchanged(sentence: Sentence, _names: Names) -> Values:
    """Return 1 for the stacks without whose positions the translation stays as it is."""
    translator, trace, values = sentence.translator, sentence.trace, Values()
    edits = {name: Edit("removed", (name,)) for name in ("encoder", "decoder")}
    for name, edit in {**edits, "both": Edit("removed", ("encoder", "decoder"))}.items():
        with translator.model.hooks(edit.hooks()):
            values[name] = translator.translate(trace.source).text == trace.target
    return {**values, _NONE: not any(values.values())}


PUZZLE_KINDS: Mapping[str, PuzzleKind] = {
    "removal": PuzzleKind(_lost_words, _losses, 1, 0),
    "link": PuzzleKind(_word_pairs, _weights, 0.9, 0.2),
    "before": PuzzleKind(_no_names, _before, 0.6, 0.2),
    "uncertain": PuzzleKind(_no_names, _surprises, 0.3, 0),
    "end": PuzzleKind(_encoder_heads, _ends, 0.6, 0.3),
    "positions": PuzzleKind(_no_names, _unchanged, 1, 0),
}
"""By their names, in the order in which they are tried."""
