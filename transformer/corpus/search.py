"""Search in measured lines: words of source, translation and subwords."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transformer.arrays import Ints
from transformer.corpus.measured import MeasuredLines
from transformer.translator import Translator


class LineWords(NamedTuple):
    """Texts that a line must have somewhere, in upper or lower case; every line has ""."""

    source: str = ""  # in the text of the line
    target: str = ""  # in the translation
    pieces: str = ""  # in the subwords of both sides, with spaces between them


def matching_rows(translator: Translator, lines: MeasuredLines, words: LineWords) -> Ints:
    """Return the rows of the lines that have all of these texts, in their order."""
    matches = np.ones(len(lines), dtype=bool)
    searched: list[tuple[str, Callable[[], list[str]]]] = [
        (words.source, lambda: [pair.source for pair in lines.pairs]),
        (words.target, lambda: [pair.target for pair in lines.pairs]),
        (words.pieces, lambda: _piece_texts(translator, lines)),
    ]
    for wanted, texts in searched:
        if wanted:
            matches &= [wanted.casefold() in text.casefold() for text in texts()]
    return np.flatnonzero(matches)


def _piece_texts(translator: Translator, lines: MeasuredLines) -> list[str]:
    sides = ((translator.tokenizer, "source_ids"), (translator.target_tokenizer, "target_ids"))
    texts = [
        [
            " ".join(piece.text for piece in tokenizer.pieces_of(getattr(pair, side)))
            for pair in lines.pairs
        ]
        for tokenizer, side in sides
    ]
    return [" ".join(pair) for pair in zip(*texts, strict=True)]


def deciles(values: npt.ArrayLike) -> list[Ints]:
    """Group the rows by tenths of their values, in each the rows nearest to its middle first."""
    numbers = np.asarray(values, dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    order = order[~np.isnan(numbers[order])]
    groups = []
    for group in np.array_split(order, min(10, max(len(order), 1))):
        if len(group):
            apart = np.abs(numbers[group] - np.median(numbers[group]))
            groups.append(group[np.argsort(apart, kind="stable")])
    return groups
