"""Word alignments that people drew, in Pharaoh notation, and how an alignment is judged by them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from training.data.corpus import CorpusError, ParallelText, read_lines

Link: TypeAlias = tuple[int, int]
"""A word of the source and one of the translation, from 0, as `str.split()` counts."""

Figures: TypeAlias = dict[str, float]
"""`aer`, `precision` and `recall`, in percent."""

_LINK = re.compile(r"([0-9]{1,9})([-p])([0-9]{1,9})")


@dataclass(frozen=True)
class GoldLinks:
    """The links of one sentence pair (Och & Ney 2003).

    Args:
        sure: S, those that must be found.
        possible: P, those that may be found; S is a part of it.
    """

    sure: frozenset[Link]
    possible: frozenset[Link]


@dataclass(frozen=True)
class Notation:
    """Notation of a file of links.

    Args:
        turned: a link is target-source.
        first: number of the first word.
        drop_outside: leave out links to words that are not there, instead of refusing the file.
    """

    turned: bool = False
    first: int = 0
    drop_outside: bool = False


def read_gold(path: Path, text: ParallelText, notation: Notation) -> tuple[list[GoldLinks], int]:
    """Read the links of each line: `1-2` is sure, `1p2` is possible.

    Returns:
        The links of each sentence pair, and how many were dropped.

    Raises:
        CorpusError: naming the line and what is wrong with it.
    """
    lines = read_lines(path)
    if len(lines) != len(text):
        raise CorpusError(
            f"{path} has {len(lines):,} lines, but there are {len(text):,} sentence pairs: each "
            f"needs its line of links."
        )
    gold, dropped = [], 0
    for number, (line, *pair) in enumerate(
        zip(lines, text.source, text.target, strict=True), start=1
    ):
        if not line.strip():
            raise CorpusError(f"{path} line {number:,} is empty: remove it from all three files.")
        try:
            links, outside = _read_line(line, [len(side.split()) for side in pair], notation)
        except ValueError as error:
            raise CorpusError(f"{path} line {number:,}: {error}") from error
        gold.append(links)
        dropped += outside
    return gold, dropped


def _read_line(line: str, words: Sequence[int], notation: Notation) -> tuple[GoldLinks, int]:
    """Parse the links of one line; return them with the number of dropped ones."""
    sure: set[Link] = set()
    possible: set[Link] = set()
    dropped = 0
    for written in line.split():
        match = _LINK.fullmatch(written)
        if match is None:
            raise ValueError(
                f"“{written}” is no link: write source-target, such as 3-4, or 3p4 for one that is "
                f"possible."
            )
        numbers = [int(match[1]) - notation.first, int(match[3]) - notation.first]
        source, target = reversed(numbers) if notation.turned else numbers
        if outside := _outside(source, target, words, notation):
            if not notation.drop_outside:
                raise ValueError(f"the link {written} {outside}")
            dropped += 1
            continue
        possible.add((source, target))
        if match[2] == "-":
            sure.add((source, target))
    return GoldLinks(frozenset(sure), frozenset(possible)), dropped


def _outside(source: int, target: int, words: Sequence[int], notation: Notation) -> str | None:
    """Find a word of a link that is outside the sentence."""
    for side, word, count in zip(("source", "target"), (source, target), words, strict=True):
        if not 0 <= word < count:
            return (
                f"names word {word + notation.first} of the {side}, which has words "
                f"{notation.first} to {count - 1 + notation.first}: correct it, or choose among "
                f"--turned, --from-one and --drop-outside."
            )
    return None


@dataclass
class Counts:
    """Links shared by an alignment A and gold links, summed over sentences.

    Args:
        links: |A|.
        sure: |S|.
        found_sure: |A ∩ S|.
        found_possible: |A ∩ P|.
    """

    links: float = 0
    sure: float = 0
    found_sure: float = 0
    found_possible: float = 0

    def add(self, links: Collection[Link], gold: GoldLinks) -> None:
        """Count one more sentence."""
        self.links += len(links)
        self.sure += len(gold.sure)
        self.found_sure += len(gold.sure.intersection(links))
        self.found_possible += len(gold.possible.intersection(links))

    def figures(self) -> Figures:
        """In percent (Och & Ney 2003).

        AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|), precision |A∩P| / |A|, recall |A∩S| / |S|.
        """
        right = _percent(self.found_sure + self.found_possible, self.links + self.sure)
        return {
            "aer": 100 - right,
            "precision": _percent(self.found_possible, self.links),
            "recall": _percent(self.found_sure, self.sure),
        }


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0
