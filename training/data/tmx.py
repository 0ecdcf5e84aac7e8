"""Sentence pairs of a translation memory (TMX), read in a stream, without its entities."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from training.data.corpus import MAX_LINE_CHARACTERS, CorpusError, blocks
from transformer.text import languages, words

Pair = tuple[str, str]

_CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})
"""Elements in a segment whose content is markup of another format, and no text."""
_PLACE = re.compile(rf"(\S){words.PLACEHOLDER}+(?=(\S))")
_BLANKS = re.compile(r"[ \t\r\n]+")


def tmx_pairs(path: Path, codes: Pair, at_most: int) -> Iterator[Pair]:
    """Yield the pair of each unit; a language that it lacks is an empty side.

    Of the codes `fr` takes `fr-CA`, too, and `fr_CA` takes `fr` and `fr-CA`.
    """
    units = _Units(path, codes)
    try:
        for block in chain(blocks(path, at_most), [b""]):  # the empty one is the end
            units.parser.Parse(block, not block)
            yield from units.pairs
            units.pairs.clear()
    except expat.ExpatError as error:
        raise CorpusError(
            f"{path} line {error.lineno:,} is not XML, {expat.ErrorString(error.code)}: bring the "
            f"file again."
        ) from error
    if not units.complete:
        raise CorpusError(
            f"{path} has no unit in both {codes[0]} and {codes[1]}, but in "
            f"{', '.join(sorted(units.languages)) or 'no language'}: choose others with --source "
            f"and --target."
        )


class _Units:
    """The units of a file as far as it was parsed."""

    def __init__(self, path: Path, codes: Pair) -> None:
        self.path, self.codes = path, codes
        self.languages: set[str] = set()
        self.complete = 0  # units in both languages
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        # one that a file declares may grow without bound; one that it does not would be left out
        parser.EntityDeclHandler = parser.SkippedEntityHandler = self._refuse_entity
        self.pairs: list[Pair] = []
        self._sides: dict[int, str] = {}  # of the unit
        self._side: int | None = None  # of the variant, if it is in one of the two languages
        self._segment: list[str] | None = None
        self._letters = self._depth = 0  # of the segment, and of codes in it

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "tu":
            self._sides = {}
        elif name == "tuv":
            language = attributes.get("xml:lang") or attributes.get("lang", "")
            self.languages.add(language)
            self._side = side_of(language, self.codes)
        elif name == "seg" and self._side is not None:
            self._segment, self._letters = [], 0
        else:
            if name in ("ph", "x"):  # a line break, a picture or a value
                self._text(words.PLACEHOLDER)
            self._depth += name in _CODES

    def _end(self, name: str) -> None:
        if name in _CODES:
            self._depth -= 1
        elif name == "seg" and self._segment is not None and self._side is not None:
            text = _PLACE.sub(_between, "".join(self._segment)).replace(words.PLACEHOLDER, "")
            text = _BLANKS.sub(" ", text).strip(" ")
            self._sides.setdefault(self._side, text)  # the first of several variants
            self._segment = None
        elif name == "tuv":
            self._side = None
        elif name == "tu":
            self.complete += len(self._sides) == 2
            self.pairs.append((self._sides.get(0, ""), self._sides.get(1, "")))

    def _text(self, text: str) -> None:
        if self._segment is None or self._depth:
            return
        self._segment.append(text)
        self._letters += len(text)
        if self._letters > MAX_LINE_CHARACTERS:
            raise CorpusError(
                f"{self.path} line {self.parser.CurrentLineNumber:,} has a segment of more than "
                f"{MAX_LINE_CHARACTERS:,} characters: write one sentence a unit."
            )

    def _refuse_entity(self, name: str, *_: object) -> NoReturn:
        raise CorpusError(
            f"{self.path} line {self.parser.CurrentLineNumber:,} has the entity {name}, which "
            f"is not read: write the text itself in its places, and declare none."
        )


def _between(place: re.Match[str]) -> str:
    """Return what is left of a placeholder, and the letter before it: a blank between two words."""
    joins = all(unicodedata.category(letter)[0] in "LMN" for letter in place.groups())
    return f"{place[1]} " if joins and not words.has_unspaced(place[1] + place[2]) else place[1]


def side_of(language: str, codes: Iterable[str]) -> int | None:
    """Return which of two codes a language is, given by its code or a name; None if neither."""
    tags = [code.lower().replace("_", "-") for code in (language, *codes)]
    tag, *others = tags
    if tag in others:
        return others.index(tag)
    for side, other in enumerate(others):
        names = [languages.name_of(code) or code.partition("-")[0] for code in (tag, other)]
        if names[0] == names[1] and ("-" not in tag or "-" not in other):
            return side
    return None
