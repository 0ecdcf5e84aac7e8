"""Search in measured lines: regular expressions on source, translation and subwords."""

import re
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import re2

from transformer.arrays import Bools, Ints
from transformer.corpus.measured import MeasuredLines
from transformer.errors import InputError, quoted
from transformer.files.reading import MIB
from transformer.translator import Translator

SECONDS = 1.0  # time of a core for a pattern over all lines; some take longer than anybody waits

MAX_BYTES = 4 * MIB  # memory of a compiled pattern

MAX_CHARACTERS = 1_000
"""Length of a pattern: RE2 takes much more memory than `MAX_BYTES` to refuse a long one."""

_PARTS = re.compile(
    r"\\Q.*?(?:\\E|\Z)"  # quoted text
    r"|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^]\\])*\]"  # a class, and what may stand in it
    r"|\\.",
    re.DOTALL,
)
_UNICODE = {"w": r"\pL\pM\pN_", "d": r"\p{Nd}", "s": r"\s\p{Z}"}
"""Classes of which RE2 has the ASCII characters alone."""


class LinePatterns(NamedTuple):
    """Regular expressions, each of which a line must match somewhere; "" matches every line."""

    source: str = ""  # in the text of the line
    target: str = ""  # in the translation
    pieces: str = ""  # in the subwords of both sides, with blanks between them


def matching_rows(translator: Translator, lines: MeasuredLines, patterns: LinePatterns) -> Ints:
    """Return the rows of the lines that match every pattern, in their order."""
    matches = np.ones(len(lines), dtype=bool)
    for pattern, texts in (
        (patterns.source, lambda: [pair.source for pair in lines.pairs]),
        (patterns.target, lambda: [pair.target for pair in lines.pairs]),
        (patterns.pieces, lambda: _piece_texts(translator, lines)),
    ):
        if pattern:
            matches &= _matches(pattern, texts)
    return np.flatnonzero(matches)


def _matches(pattern: str, texts: Callable[[], Sequence[str]]) -> Bools:
    """Search every text by RE2, whose time is linear in the text whatever the pattern is."""
    if len(pattern) > MAX_CHARACTERS:
        raise InputError(
            f"{quoted(pattern)} has more than {MAX_CHARACTERS:,} characters: shorten it."
        )
    options = re2.Options()
    options.max_mem, options.never_capture, options.log_errors = MAX_BYTES, True, False
    try:
        compiled = re2.compile(_with_unicode(pattern), options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode() if isinstance(error, re2.error) else "half a character"
        raise InputError(
            f"{quoted(pattern)} cannot be searched for, {reason.partition(':')[0]}: lookaround, "
            "backreferences and more than 1,000 repetitions are not supported."
        ) from error
    finally:
        re2.purge()  # it remembers 128 patterns of anybody
    end, matches = time.thread_time() + SECONDS, []
    for text in texts():
        matches.append(compiled.search(text.encode("utf-8", "replace")) is not None)
        if time.thread_time() > end:
            raise InputError(f"{quoted(pattern)} takes too long on these lines: use a shorter one.")
    return np.array(matches)


def _with_unicode(pattern: str) -> str:
    """Return the pattern with the letters, digits and blanks of all languages."""

    def widen(part: re.Match[str]) -> str:
        name = part[0][1:]
        if part[0].startswith("["):
            if re.search(r"\\[WDS]", re.sub(r"\\[^WDS]", "", name)):
                raise InputError(
                    rf"{quoted(pattern)} has \W, \D or \S in brackets: write \PL, \PN or \PZ."
                )
            return re.sub(r"\\(.)", lambda escape: _UNICODE.get(escape[1], escape[0]), part[0])
        if (letters := _UNICODE.get(name.lower())) is None:
            return part[0]
        return f"[{'^' if name.isupper() else ''}{letters}]"

    if re.search(r"\\b[^\W\x00-\x7f]|[^\W\x00-\x7f]\\b", pattern):
        raise InputError(
            rf"{quoted(pattern)} has \b beside a letter that is not from a to z: write (^|\W) or "
            r"(\W|$) there."
        )
    return _PARTS.sub(widen, pattern)


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
