"""Words of a text, and words that a translation must not contain."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from transformer import config, errors

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


@dataclass(frozen=True)
class ForbiddenWords:
    """Words that no translation may contain, in whatever pieces they are written.

    A forbidden word is a whole word as it is written: upper case and umlauts count, punctuation
    beside it does not belong to it, a hyphen or an apostrophe between letters does. So “Mann”
    forbids “Mann”, “Mann.” and “„Mann“”, not “mann”, “Männer”, “Mannschaft” or “E-Mann”; and a
    continuation is refused where it completes such a word, or the translation ends in it.
    `decoding.Bans.likely_ends_forbidden` keeps a search from going on from a forbidden word where
    the model would sooner end it; another word that begins alike may still be written. Letters of a
    script without spaces are forbidden wherever they stand, in longer words, too: “桌子” forbids
    “桌子腿”.
    """

    words: frozenset[str]  # each as `words_in` finds it, or several letters without a space
    texts: tuple[str, ...]  # of each piece of the vocabulary, a space as a space

    @classmethod
    def from_words(cls, words: Iterable[str], texts: Sequence[str]) -> "ForbiddenWords":
        """Check the words as they were typed."""
        checked = set()
        for typed in words:
            word = unicodedata.normalize("NFKC", typed).strip()  # as the tokenizer reads text
            parts = [match.group() for match in words_in(word)]
            is_word = len(parts) == 1 or (has_unspaced(word) and all(map(has_letter, parts)))
            # a search for what no text has, such as NUL, takes a hundred times as long
            if not word or not is_word or not word.isprintable() or len(word.split()) > 1:
                raise errors.InputError(
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
        starts = (m.start() for m in words_in(text) if not self._is_closed(text, m))
        return text[next(starts, len(text)) :]

    def _is_closed(self, text: str, word: re.Match[str]) -> bool:
        """Return whether neither this word nor a forbidden one that begins with it can go on."""
        rest = text[word.start() :].lstrip()
        return _is_settled(text, word) and not any(long.startswith(rest) for long in self._long)

    @cached_property
    def _long(self) -> Mapping[str, int]:
        """Forbidden words in which `words_in` finds several, with their number."""
        counts = {word: len(list(words_in(word))) for word in self.words}
        return {word: count for word, count in counts.items() if count > 1}

    def text_of(self, tokens: Iterable[int]) -> str:
        """Return the text of these pieces."""
        return "".join(self.texts[token] for token in tokens)

    def completed_by(self, text: str) -> str | None:
        """Return a forbidden word that this text completes, if there is one."""
        return next(self._forbidden(text, last=False), None)

    def _forbidden(self, text: str, *, last: bool) -> Iterator[str]:
        """Find the forbidden words in a text; unless it is the last, of those that are settled."""
        matches = [m for m in words_in(text) if last or _is_settled(text, m)]
        for index, match in enumerate(matches):
            if (word := match.group().strip()) in self.words:
                yield word
            for long, count in self._long.items():
                end = matches[index + count - 1 : index + count]
                if end and text[match.start() : end[0].end()].lstrip() == long:
                    yield long

    def completes(self, open_word: str, piece: int, last: bool = False) -> bool:
        """Return whether this piece, maybe the last, completes the open word to a forbidden one."""
        if not self.words:
            return False
        if piece == config.EOS:
            text, last = open_word, True
        else:
            text = open_word + self.texts[piece]
        return next(self._forbidden(text, last=last), None) is not None


def _is_settled(text: str, word: re.Match[str]) -> bool:
    """Return whether nothing that may follow the text can make this word longer."""
    if re.match(f"[{_IDEOGRAPHS}]", word.group()[-1:]):
        return True
    rest = len(text) - word.end()
    if rest != 1:
        return rest > 1
    # a digit goes on after all that can stand inside a word
    longer = _pattern().match(text + "0", word.start())
    return longer is None or longer.end() == word.end()
