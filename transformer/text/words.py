"""Words of a text."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache

PLACEHOLDER = "\0"  # for a special piece, in the text that is split into words
_JOINERS = "\u200c\u200d"  # shape the letters beside them
_IDEOGRAPHS = (  # and kana, of which nothing that follows makes another letter
    "\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_WITH_MARK = "\u0e33\u0eb3"  # of Thai and Lao, a mark and a letter in one
_BLOCKS = (  # of Thai and Lao, Burmese, and Khmer
    (0x0E00, 0x0F00), (0x1000, 0x10A0), (0xA9E0, 0xAA00), (0xAA60, 0xAA80), (0x1780, 0x1800),
)  # fmt: skip
_UNSPACED = _IDEOGRAPHS + "".join(
    letter
    for block in _BLOCKS
    for letter in map(chr, range(*block))
    if unicodedata.category(letter)[0] == "L" and letter not in _WITH_MARK
)
"""Letters of scripts that are written without spaces between words."""
_READ_ALOUD = frozenset("#%&*@§¶†‡‰‱٪؉؊")
"""Characters that Unicode counts as punctuation, and that stand for words, as symbols do."""
_WITHOUT_TEXT = frozenset(" ▁↵⇥") | frozenset(map(chr, range(0x2400, 0x2422)))
"""Signs that stand in pieces for spaces, line breaks, tabs and control characters."""
_STACKERS = "\u1039\u17d2\u0e4d\u0ecd"  # marks that make one character with a letter behind them


@cache  # at the first text: to look for the marks takes as long as a short translation
def _pattern() -> re.Pattern[str]:
    r"""Compile the pattern of `words_in`; a combining mark, which `\w` leaves out, is a letter."""
    # those beyond U+FFFF belong to rare scripts, and would make every text slower to split
    characters = map(chr, range(0x300, 0x10000))
    marks = "".join(c for c in characters if unicodedata.category(c)[0] == "M")
    marks += _JOINERS + _WITH_MARK
    letter = rf"(?:[^\W{_UNSPACED}]|[{marks}])"
    alone = rf"[{_UNSPACED}](?:[{marks}]|(?<=[{_STACKERS}])[{_UNSPACED}])*"
    joined = rf"['’-]{letter}+|(?<=\d)[.,]\d+"
    symbols = rf"[^\w\s\0{marks}][^\w\s\0]*"  # an emoji with its marks is one
    return re.compile(rf"\0|\s*(?:{alone}|{letter}+(?:{joined})*|{symbols})|\s+")


def words_in(text: str) -> Iterator[re.Match[str]]:
    """Find the words of a text with the spaces before them: punctuation is a word of its own.

    So is each letter of a script without spaces, where no rule says which of them are one word.
    `PLACEHOLDER` is one, too, and so are spaces alone before it or at the end.
    """
    return _pattern().finditer(text)


def has_unspaced(text: str) -> bool:
    """Return whether a text has letters of a script that puts no spaces between words."""
    return re.search(f"[{_UNSPACED}]", text) is not None


def has_letter(text: str) -> bool:
    """Return whether a word's part has a letter, a digit, or a mark of one (not as that of ❤️)."""
    return any(map(str.isalnum, text)) or unicodedata.category(text[:1] or " ")[0] == "M"


def is_punctuation(text: str) -> bool:
    """Return whether a part of a text is punctuation or white space alone.

    Symbols (€, +, √, an emoji) and characters that are read as words (%, &, @) are neither.
    """
    return all(
        character in _WITHOUT_TEXT
        or (unicodedata.category(character)[0] in "PZC" and character not in _READ_ALOUD)
        for character in unicodedata.normalize("NFKC", text)
    )


def number_words(texts: Sequence[str]) -> list[int]:
    """Return the number of each piece's word, in reading order; punctuation is its own word.

    A piece that spans two words, such as a letter with its full stop, belongs to the first; one
    without a text, to the word of the piece before it. In a script without spaces each piece is a
    word. The texts of consecutive pieces have their spaces, and are `PLACEHOLDER` for a special
    one.
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
