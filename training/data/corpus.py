"""Files of parallel text: line N of `train.en` is translated by line N of `train.de`."""

from __future__ import annotations

import codecs
from argparse import ArgumentTypeError
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from transformer.errors import HeadlightError, unreadable
from transformer.files.reading import GIB, MIB, opened

SOURCE, TARGET = "en", "de"
MOST_BYTES = 4 * GIB  # of a file that is held in memory whole
MOST_BYTES_OF_STREAM = 2**50  # of a file that is mapped or read in a stream
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
    return [line for chunk in line_chunks(path) for line in chunk]


def line_chunks(path: Path, at_most: int = MOST_BYTES) -> Iterator[list[str]]:
    r"""Yield the lines of a UTF-8 file, `CHUNK` at a time; they end at `\n`, `\r\n` or `\r`.

    A byte-order mark at the beginning belongs to none of them.

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
            whole = len(lines) - len(lines) % CHUNK
            for start in range(0, whole, CHUNK):
                yield lines[start : start + CHUNK]
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


@dataclass(frozen=True)
class ParallelText:
    """Sentences and their translations."""

    source: list[str]
    target: list[str]

    def __len__(self) -> int:
        return len(self.source)


def read_parallel(prefix: Path) -> ParallelText:
    """Read `prefix.en` and `prefix.de`, as `read_files` does."""
    return read_files(*_sides(prefix))


def _sides(prefix: Path) -> tuple[Path, Path]:
    return Path(f"{prefix}.{SOURCE}"), Path(f"{prefix}.{TARGET}")


def read_files(source_path: Path, target_path: Path) -> ParallelText:
    """Read two files of which each line is the translation of the other's.

    Raises:
        CorpusError: as `pair_chunks` does.
    """
    text = ParallelText([], [])
    for chunk in pair_chunks(source_path, target_path):
        text.source.extend(chunk.source)
        text.target.extend(chunk.target)
    return text


def pair_chunks(
    source_path: Path, target_path: Path, at_most: int = MOST_BYTES
) -> Iterator[ParallelText]:
    """Yield the pairs of two files, `CHUNK` at a time; the last chunk may be shorter.

    Raises:
        CorpusError: if a file is missing or empty, has a line that is no sentence of UTF-8, or the
            two differ in length.
    """
    sides = (line_chunks(path, at_most) for path in (source_path, target_path))
    lines = others = 0
    for source, target in zip_longest(*sides, fillvalue=[]):
        lines, others = lines + len(source), others + len(target)
        if lines == others:
            yield ParallelText(source, target)
    if lines != others:
        raise CorpusError(
            f"{source_path} has {lines:,} lines and {target_path} has {others:,}: each line must "
            f"stand beside its translation."
        )
    if not lines:
        raise CorpusError(f"{source_path} is empty: give at least one sentence.")


def read_validation_text(folder: Path) -> ParallelText:
    """Read the validation text of a folder: `valid`, or `val` as in Multi30k."""
    return read_parallel(folder / ("val" if (folder / f"val.{SOURCE}").exists() else "valid"))


MOST_WEIGHT = 1_000.0


@dataclass(frozen=True)
class DataFolder:
    """A folder of text, each of whose pairs an epoch reads as often as its weight says.

    Of 2.5, all twice and every second one once more.
    """

    path: Path
    weight: float = 1.0

    def sides(self) -> tuple[Path, Path]:
        """Return the two files of the training text."""
        return _sides(self.path / "train")

    def chunks(self) -> Iterator[ParallelText]:
        """Yield chunks of pairs of the training text, as `pair_chunks` does."""
        return pair_chunks(*self.sides(), MOST_BYTES_OF_STREAM)


def data_folder(argument: str) -> DataFolder:
    """Parse `DIR` or `DIR:WEIGHT` for argparse; an existing path with a colon is a folder.

    Raises:
        ArgumentTypeError: if the weight is not above 0, or more than can be meant.
    """
    path, colon, written = argument.rpartition(":")
    if not colon or not path or Path(argument).exists():
        return DataFolder(Path(argument))
    try:
        weight = float(written)
    except ValueError:
        weight = 0.0
    if not 0 < weight <= MOST_WEIGHT:
        raise ArgumentTypeError(
            f"the weight of '{path}' must be a number above 0, and at most {MOST_WEIGHT:,.0f}, not "
            f"'{written}'"
        )
    return DataFolder(Path(path), weight)
