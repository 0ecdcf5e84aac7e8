"""The lines of text files, some at a time: a text of any size passes in little memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from transformer.errors import HeadlightError, unreadable
from transformer.files.reading import GIB, MIB, opened

MOST_BYTES = 4 * GIB  # of a file that is held in memory whole
MOST_LETTERS_OF_LINE = 1_000_000
BLOCK = 4 * MIB  # that is read at one time
CHUNK = 50_000  # lines that are held at one time


class CorpusError(HeadlightError):
    """Text files that are missing, unreadable, or do not belong together."""


def read_lines(path: Path) -> list[str]:
    """Read the lines of a UTF-8 file.

    Raises:
        CorpusError: as `line_chunks` does.
    """
    return [line for chunk in line_chunks(path, CHUNK) for line in chunk]


def line_chunks(path: Path, size: int, at_most: int = MOST_BYTES) -> Iterator[list[str]]:
    r"""Yield the lines of a UTF-8 file in chunks; they end at `\n`, `\r\n` or `\r`.

    A byte-order mark at the beginning belongs to none of them.

    Args:
        path: the file.
        size: lines of each chunk; the last may have fewer.
        at_most: bytes that such a file may have.

    Raises:
        CorpusError: if the file cannot be read, is not UTF-8, or has a line that is no sentence.
    """
    lines: list[str] = []
    number = 0  # of the lines that were read
    try:
        for block in _blocks(path, at_most):
            read = _cut(block, path, number)
            number += len(read)
            lines += read
            whole = len(lines) - len(lines) % size
            for start in range(0, whole, size):
                yield lines[start : start + size]
            del lines[:whole]
    except OSError as error:
        raise CorpusError(unreadable(error, path)) from error
    if lines:
        yield lines


def _blocks(path: Path, at_most: int) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks of whole lines."""
    with opened(path, at_most) as (file, _):
        rest = file.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
        while block := file.read(BLOCK):
            rest += block
            # a carriage return at the end may be the first half of a line end
            end = 1 + max(rest.rfind(b"\n"), rest.rfind(b"\r", 0, -1))
            # without any line end nothing more is read than what is refused in any case
            if not end and len(rest) > 4 * MOST_LETTERS_OF_LINE:
                end = len(rest)
            if end:
                yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _cut(block: bytes, path: Path, number: int) -> list[str]:
    """Split a block into lines; `number` lines of the file stand before it."""
    block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if len(block) > 4 * MOST_LETTERS_OF_LINE and b"\n" not in block:
        raise _too_long(path, number + 1)  # it may end within a character
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = number + 1 + block.count(b"\n", 0, error.start)
        raise CorpusError(
            f"{path} line {line:,} is not UTF-8: convert the file, for example with iconv."
        ) from error
    # not splitlines(): it also cuts at characters inside sentences
    lines = text.removesuffix("\n").split("\n")
    if max(map(len, lines)) > MOST_LETTERS_OF_LINE:
        long = next(i for i, line in enumerate(lines) if len(line) > MOST_LETTERS_OF_LINE)
        raise _too_long(path, number + 1 + long)
    return lines


def _too_long(path: Path, line: int) -> CorpusError:
    return CorpusError(
        f"{path} line {line:,} has more than {MOST_LETTERS_OF_LINE:,} characters: write one "
        f"sentence a line."
    )
