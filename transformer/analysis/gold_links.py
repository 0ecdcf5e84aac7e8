"""Word links that people drew (Och & Ney 2003), and the error of an alignment beside them."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Link: TypeAlias = tuple[int, int]
"""A word of the source and one of the translation, from 0, as `str.split()` counts."""

_LINK = re.compile(r"([0-9]{1,9})([-p])([0-9]{1,9})")


@dataclass(frozen=True)
class GoldLinks:
    """Links of one sentence pair (Och & Ney 2003); the sure ones are possible, too."""

    sure: frozenset[Link]
    possible: frozenset[Link]


@dataclass(frozen=True)
class Notation:
    """Notation of a file of links: which side stands first, and what the first word is numbered."""

    turned: bool = False  # whether the target word stands first
    first: int = 0  # the number of the first word
    drop_outside: bool = False  # whether links to words that are not there are left out


class OutsideLinkError(ValueError):
    """A link to a word that is not there."""


def read_links(line: str, words: Sequence[int], notation: Notation) -> tuple[GoldLinks, int]:
    """Parse the links of one line; return them with the number of dropped ones.

    `1-2` is a sure link, `1p2` a possible one, with spaces between them. `words` has the number of
    words of both sides, as `str.split()` counts.

    Raises:
        ValueError: what is wrong with it, as a sentence without its end; `OutsideLinkError` where
            another notation might mend it.
    """
    sure: set[Link] = set()
    possible: set[Link] = set()
    dropped = 0
    for written in line.split():
        match = _LINK.fullmatch(written)
        if match is None:
            raise ValueError(
                f"“{written}” is not a link: write source-target, such as 3-4 (3p4 if possible)"
            )
        numbers = [int(match[1]) - notation.first, int(match[3]) - notation.first]
        source, target = reversed(numbers) if notation.turned else numbers
        sides = zip(("source", "target"), (source, target), words, strict=True)
        outside = [side for side in sides if not 0 <= side[1] < side[2]]
        if outside and not notation.drop_outside:
            side, word, count = outside[0]
            raise OutsideLinkError(
                f"the link {written} names word {word + notation.first} of the {side}, which has "
                f"words {notation.first} to {count - 1 + notation.first}: correct it"
            )
        if outside:
            dropped += 1
            continue
        possible.add((source, target))
        if match[2] == "-":
            sure.add((source, target))
    return GoldLinks(frozenset(sure), frozenset(possible)), dropped


def alignment_error(links: Collection[Link], gold: GoldLinks) -> float:
    """Compute 1 − (|A∩S| + |A∩P|) / (|A| + |S|) of one sentence; 0 where there is no link."""
    right = len(gold.sure.intersection(links)) + len(gold.possible.intersection(links))
    return 1 - right / (len(links) + len(gold.sure)) if links or gold.sure else 0.0
