"""Words of a text, and words that a translation must not contain."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from transformer.config import EOS
from transformer.errors import InputError

PLACEHOLDER = "\0"  # for a special piece, in the text that is split into words
_JOINERS = "\u200c\u200d"  # shape the letters beside them


@cache  # at the first text: to look for the marks takes as long as a short translation
def _pattern() -> re.Pattern[str]:
    r"""Compile the pattern of `words_in`; a combining mark, which `\w` leaves out, is a letter."""
    # those beyond U+FFFF belong to rare scripts, and would make every text slower to split
    characters = map(chr, range(0x300, 0x10000))
    marks = "".join(c for c in characters if unicodedata.category(c)[0] == "M") + _JOINERS
    letter = rf"[\w{marks}]"
    joined = rf"['’-]{letter}+|(?<=\d)[.,]\d+"
    symbols = rf"[^\w\s\0{marks}][^\w\s\0]*"  # an emoji with its marks is one
    return re.compile(rf"\0|\s*(?:{letter}+(?:{joined})*|{symbols})|\s+")


def words_in(text: str) -> Iterator[re.Match[str]]:
    """Find the words of a text with the spaces before them: punctuation is a word of its own.

    `PLACEHOLDER` is one, too, and so are spaces alone before it or at the end.
    """
    return _pattern().finditer(text)


def has_letter(text: str) -> bool:
    """Return whether a letter, a digit, or a mark that continues a letter is in a part of a word.

    A mark behind a symbol is the symbol's, as that of ❤️ is.
    """
    return any(map(str.isalnum, text)) or unicodedata.category(text[:1] or " ")[0] == "M"


def number_words(texts: Sequence[str]) -> list[int]:
    """Return the number of each piece's word, in reading order; punctuation is its own word.

    A piece that spans two words, such as a letter with its full stop, belongs to the first; one
    without a text, to the word of the piece before it. The texts of consecutive pieces have their
    spaces, and are `PLACEHOLDER` for a special one.
    """
    starts = [match.start() for match in words_in("".join(texts))]
    result: list[int] = []
    numbers: dict[int, int] = {}  # by word; one in which no piece begins gets none
    position = 0
    for text in texts:
        word = bisect_right(starts, position) - 1
        if text or not result:
            result.append(numbers.setdefault(word, len(numbers)))
        else:
            result.append(result[-1])
        position += len(text)
    return result


@dataclass(frozen=True)
class ForbiddenWords:
    """Words that no translation may contain, in whatever pieces they are written.

    A forbidden word is a whole word as it is written: upper case and umlauts count, punctuation
    beside it does not belong to it, a hyphen or an apostrophe between letters does. So “Mann”
    forbids “Mann”, “Mann.” and “„Mann“”, not “mann”, “Männer”, “Mannschaft” or “E-Mann”; and a
    continuation is refused where it completes such a word, or the translation ends in it.
    `decoding.Bans.likely_ends_forbidden` keeps a search from going on from a forbidden word where
    the model would sooner end it; another word that begins alike may still be written.

    Args:
        words: the words, each as `words_in` finds it, without spaces; upper case counts.
        texts: the text of each piece of the vocabulary, a space as a space.
    """

    words: frozenset[str]
    texts: tuple[str, ...]

    @classmethod
    def from_words(cls, words: Iterable[str], texts: Sequence[str]) -> ForbiddenWords:
        """Check the words as they were typed.

        Raises:
            InputError: if one is empty, or more than one word.
        """
        checked = set()
        for typed in words:
            word = unicodedata.normalize("NFKC", typed).strip()  # as the tokenizer reads text
            # a search for what no text has, such as NUL, takes a hundred times as long
            if [match.group() for match in words_in(word)] != [word] or not word.isprintable():
                raise InputError(
                    f"“{typed}” cannot be forbidden: give one word at a time, without spaces and "
                    f"without punctuation beside it."
                )
            checked.add(word)
        return cls(frozenset(checked), tuple(texts))

    def open_word(self, tokens: Iterable[int], start: str = "") -> str:
        """Return the end of the text `start` + `tokens` that later pieces can still change."""
        if not self.words:
            return ""
        text = start + self.text_of(tokens)
        starts = (m.start() for m in words_in(text) if not _is_settled(text, m))
        return text[next(starts, 0) :]

    def text_of(self, tokens: Iterable[int]) -> str:
        """Return the text of these pieces."""
        return "".join(self.texts[token] for token in tokens)

    def written(self, text: str) -> str | None:
        """Return a forbidden word that this text completes, if there is one."""
        return next((word for word in _settled(text) if word in self.words), None)

    def completes(self, open_word: str, piece: int, last: bool = False) -> bool:
        """Return whether this piece, maybe the last, completes a forbidden word.

        `open_word` is the end of the prefix, as the method of this name returns it.
        """
        if not self.words:
            return False
        if piece == EOS:
            text, last = open_word, True
        else:
            text = open_word + self.texts[piece]
        words = _all(text) if last else _settled(text)
        return any(word in self.words for word in words)


def _all(text: str) -> Iterator[str]:
    return (match.group().strip() for match in words_in(text))


def _settled(text: str) -> Iterator[str]:
    return (m.group().strip() for m in words_in(text) if _is_settled(text, m))


def _is_settled(text: str, word: re.Match[str]) -> bool:
    """Return whether nothing that may follow the text can make this word longer."""
    rest = len(text) - word.end()
    if rest != 1:
        return rest > 1
    # a digit goes on after all that can stand inside a word
    longer = _pattern().match(text + "0", word.start())
    return longer is None or longer.end() == word.end()
