"""Search in measured lines: regular expressions on source, translation and subwords."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from transformer.analysis.lines.measured import MeasuredLines
from transformer.errors import InputError, quoted
from transformer.translator import Translator

SECONDS = 1.0
"""Time that a pattern may take over all lines; some take longer than anybody waits."""


class LinePatterns(NamedTuple):
    """Regular expressions, each of which a line must match somewhere; "" matches every line."""

    source: str = ""  # in the text of the line
    target: str = ""  # in the translation
    pieces: str = ""  # in the subwords of both sides, with blanks between them


def matching_rows(
    translator: Translator, lines: MeasuredLines, patterns: LinePatterns
) -> npt.NDArray[np.int64]:
    """Return the rows of the lines that match every pattern, in their order.

    Raises:
        InputError: if a pattern is no regular expression, or takes too long.
    """
    matches = np.ones(len(lines), dtype=bool)
    for pattern, texts in (
        (patterns.source, lambda: [pair.source for pair in lines.pairs]),
        (patterns.target, lambda: [pair.target for pair in lines.pairs]),
        (patterns.pieces, lambda: _piece_texts(translator, lines)),
    ):
        if pattern:
            matches &= _matches(pattern, texts)
    return np.flatnonzero(matches)


def _matches(pattern: str, texts: Callable[[], Sequence[str]]) -> npt.NDArray[np.bool_]:
    try:
        compiled = regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise InputError(f"{quoted(pattern)} is no regular expression: {error}.") from error
    end = time.monotonic() + SECONDS
    try:
        return np.array(
            [
                compiled.search(text, timeout=max(end - time.monotonic(), 0)) is not None
                for text in texts()
            ]
        )
    except TimeoutError as error:
        raise InputError(
            f"{quoted(pattern)} takes too long on these lines: use fewer nested repetitions."
        ) from error


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


def deciles(values: npt.ArrayLike) -> list[npt.NDArray[np.int64]]:
    """Group the rows by tenths of their values, the smallest first; fewer rows give fewer groups.

    Within a group the rows nearest to its middle come first.
    """
    numbers = np.asarray(values, dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    order = order[~np.isnan(numbers[order])]
    groups = []
    for group in np.array_split(order, min(10, max(len(order), 1))):
        if len(group):
            apart = np.abs(numbers[group] - np.median(numbers[group]))
            groups.append(group[np.argsort(apart, kind="stable")])
    return groups
