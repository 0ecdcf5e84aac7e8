"""Parallel text: line N of `train.en` is translated by line N of `train.de`."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from transformer.errors import HeadlightError, unreadable
from transformer.reading import GIB, read_bytes
from transformer.tokenizer import Tokenizer

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]

SOURCE, TARGET = "en", "de"
MOST_BYTES = 4 * GIB  # of a file, which is held in memory
MOST_LETTERS_OF_LINE = 1_000_000
CHUNK = 50_000  # sentences that are held as Python lists at one time


class CorpusError(HeadlightError):
    """Text files that are missing, unreadable, or do not belong together."""


@dataclass(frozen=True)
class ParallelText:
    """Sentences and their translations."""

    source: list[str]
    target: list[str]

    def __len__(self) -> int:
        return len(self.source)

    def __add__(self, other: ParallelText) -> ParallelText:
        return ParallelText(self.source + other.source, self.target + other.target)


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file.

    Raises:
        CorpusError: if the file cannot be read, or is not UTF-8.
    """
    try:
        text = read_bytes(path, MOST_BYTES).decode("utf-8")
    except OSError as error:
        raise CorpusError(unreadable(error, path)) from error
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path} is not UTF-8 at byte {error.start}: convert it, for example with iconv."
        ) from error
    # not splitlines(): it also cuts at characters inside sentences
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    for number, line in enumerate(lines, start=1):
        if len(line) > MOST_LETTERS_OF_LINE:
            raise CorpusError(
                f"{path} line {number:,} has {len(line):,} characters: write one sentence a line."
            )
    return lines


def read_parallel(prefix: Path) -> ParallelText:
    """Read `prefix.en` and `prefix.de`, as `read_files` does."""
    return read_files(Path(f"{prefix}.{SOURCE}"), Path(f"{prefix}.{TARGET}"))


def read_files(source_path: Path, target_path: Path) -> ParallelText:
    """Read two files of which each line is the translation of the other's.

    Raises:
        CorpusError: if a file is missing or empty, or the two differ in length.
    """
    source, target = read_lines(source_path), read_lines(target_path)
    if len(source) != len(target):
        raise CorpusError(
            f"{source_path} has {len(source):,} lines and {target_path} has {len(target):,}: "
            f"each line must stand beside its translation."
        )
    if not source:
        raise CorpusError(f"{source_path} is empty: give at least one sentence.")
    return ParallelText(source, target)


def read_training_text(folders: Sequence[Path]) -> ParallelText:
    """The training text of all folders together; a folder named twice counts twice."""
    text = ParallelText([], [])
    for folder in folders:
        text += read_parallel(folder / "train")
    return text


def read_validation_text(folder: Path) -> ParallelText:
    """`valid.*` of a folder, or `val.*`, as Multi30k names it."""
    name = "val" if (folder / f"val.{SOURCE}").exists() else "valid"
    return read_parallel(folder / name)


class Sentences(Sequence[list[int]]):
    """Token ids of many sentences in one array: four bytes a piece, where a list takes up to 36.

    Args:
        sentences: the ids of each; read once.
    """

    def __init__(self, sentences: Iterable[Sequence[int]] = ()) -> None:
        self._pieces, self._ends = array("i"), array("q", [0])
        for ids in sentences:
            self.append(ids)

    def append(self, ids: Sequence[int]) -> None:
        """Add a sentence."""
        self._pieces.extend(ids)
        self._ends.append(len(self._pieces))

    @classmethod
    def from_arrays(cls, pieces: Ids, lengths: Counts) -> Sentences:
        """From the ids of all sentences, one behind the other, and how many each has."""
        sentences = cls()
        sentences._pieces.frombytes(pieces.astype(np.intc).tobytes())
        sentences._ends.frombytes(np.cumsum(lengths, dtype=np.longlong).tobytes())
        return sentences

    def pieces(self) -> Ids:
        """The ids of all sentences, one behind the other."""
        return np.array(self._pieces, dtype=np.int32)

    def lengths(self) -> Counts:
        """`[sentence]`, pieces in each."""
        ends = np.array(self._ends, dtype=np.int64)
        return ends[1:] - ends[:-1]

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, row: int) -> list[int]: ...
    @overload
    def __getitem__(self, row: slice) -> list[list[int]]: ...
    def __getitem__(self, row: int | slice) -> list[int] | list[list[int]]:
        rows = range(len(self))[row]
        if isinstance(rows, range):
            return [self[number] for number in rows]
        return self._pieces[self._ends[rows] : self._ends[rows + 1]].tolist()


def spans(starts: Counts, counts: Counts) -> Counts:
    """The numbers start, start + 1, … of each span, as many as it counts, span behind span."""
    firsts = np.cumsum(counts) - counts  # where each begins among them
    return np.repeat(starts - firsts, counts) + np.arange(counts.sum())


@dataclass(frozen=True)
class EncodedText:
    """Parallel text as token ids, without special pieces.

    Args:
        source, target: the ids of each sentence.
        lines: the line of the text, from 0, that each pair was.
        left_out: how many pairs were empty or too long.
    """

    source: Sentences
    target: Sentences
    lines: Sequence[int] = ()
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.source)


def encode(
    text: ParallelText,
    tokenizer: Tokenizer,
    max_pieces: int,
    *,
    target_tokenizer: Tokenizer | None = None,
    progress: bool = False,
) -> EncodedText:
    """Encode every pair; those with an empty or overlong side are left out and counted.

    Args:
        target_tokenizer: of the target, unless one serves both languages.
        progress: show a bar on a terminal, if it takes a while.

    Raises:
        CorpusError: if no pair is left.
    """
    source, target, lines = Sentences(), Sentences(), array("q")
    starts = range(0, len(text), CHUNK)
    for start in tqdm(starts, "pieces", delay=3, disable=None if progress else True):
        chunk = slice(start, start + CHUNK)
        pairs = zip(
            tokenizer.encode_all(text.source[chunk]),
            (target_tokenizer or tokenizer).encode_all(text.target[chunk]),
            strict=True,
        )
        for line, (s, t) in enumerate(pairs, start=start):
            if 0 < len(s) < max_pieces and 0 < len(t) < max_pieces:
                source.append(s)
                target.append(t)
                lines.append(line)
    if not source:
        raise CorpusError(
            f"No sentence pair has between 1 and {max_pieces - 1} pieces on both sides: "
            f"raise max_pieces or check the files."
        )
    return EncodedText(source, target, lines, len(text) - len(source))
