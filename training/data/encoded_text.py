"""Token ids of parallel text, in memory or mapped from five binary files."""

import hashlib
import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray
from tqdm import tqdm

from training.data.corpus import CHUNK, CorpusError, ParallelText
from transformer.arrays import Ints
from transformer.text.tokenizer import Tokenizer

StoredIds = NDArray[np.int32] | NDArray[np.uint16]


class Sentences(Sequence[list[int]]):
    """Token ids of many sentences: two or four bytes a piece, where a list takes up to 36.

    `stored` has them one behind the other; `ends`, `[sentence + 1]`, has where each begins and,
    last, where the last one ends.
    """

    def __init__(self, sentences: Iterable[Sequence[int]] = ()) -> None:
        pieces, ends = array("i"), array("q", [0])
        for ids in sentences:
            pieces.extend(ids)
            ends.append(len(pieces))
        self.stored: StoredIds = np.array(pieces, dtype=np.int32)
        self.ends: Ints = np.array(ends, dtype=np.int64)

    @classmethod
    def from_ends(cls, stored: StoredIds, ends: Ints) -> "Sentences":
        """Build from the ids and the ends of the sentences; neither array is copied."""
        sentences = cls.__new__(cls)
        sentences.stored, sentences.ends = stored, ends
        return sentences

    @classmethod
    def from_arrays(cls, pieces: StoredIds, lengths: Ints) -> "Sentences":
        """Build from the concatenated ids of all sentences and their lengths, `[sentence]`."""
        return cls.from_ends(pieces, np.append(0, np.cumsum(lengths, dtype=np.int64)))

    def lengths(self) -> Ints:
        """Count the pieces of each sentence, `[sentence]`."""
        return np.diff(self.ends)

    def take(self, rows: Ints) -> "Sentences":
        """Select sentences by number, in this order."""
        starts = self.ends[rows]
        lengths = self.ends[rows + 1] - starts
        return Sentences.from_arrays(self.stored[spans(starts, lengths)], lengths)

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, row: int) -> list[int]: ...
    @overload
    def __getitem__(self, row: slice) -> list[list[int]]: ...
    def __getitem__(self, row: int | slice) -> list[int] | list[list[int]]:
        rows = range(len(self))[row]
        if isinstance(rows, range):
            return [self[number] for number in rows]
        return self.stored[self.ends[rows] : self.ends[rows + 1]].tolist()


def spans(starts: Ints, counts: Ints) -> Ints:
    """Return start, start + 1, … of each span, concatenated."""
    firsts = np.cumsum(counts) - counts  # where each begins among them
    return np.repeat(starts - firsts, counts) + np.arange(counts.sum())


def stored_type(vocab_size: int) -> np.dtype[Any]:
    """Return the type in which the ids of a vocabulary are stored: two bytes where they suffice."""
    return np.dtype(np.uint16 if vocab_size <= 2**16 else np.int32)


@dataclass(frozen=True, eq=False)
class EncodedText:
    """Parallel text as token ids, without special pieces."""

    source: Sentences
    target: Sentences
    lines: Sequence[int] | Ints = ()  # of the text, from 0, that each pair was
    left_out: int = 0  # pairs that were empty or too long

    def __len__(self) -> int:
        return len(self.source)


def encode(
    text: ParallelText,
    tokenizer: Tokenizer,
    max_pieces: int,
    *,
    target_tokenizer: Tokenizer | None = None,
) -> EncodedText:
    """Encode every pair; empty sides and those of `max_pieces` and more are left out."""
    encoded = join_chunks(
        encode_chunks(text, (tokenizer, target_tokenizer or tokenizer), max_pieces)
    )
    refuse_empty(len(encoded), max_pieces)
    return encoded


def refuse_empty(pairs: int, max_pieces: int) -> None:
    """Raise CorpusError if a text has no usable pair."""
    if not pairs:
        raise CorpusError(
            f"No sentence pair has between 1 and {max_pieces - 1} pieces on both sides: raise "
            f"max_pieces or check the files."
        )


def encode_chunks(
    text: ParallelText,
    tokenizers: tuple[Tokenizer, Tokenizer],
    max_pieces: int,
    *,
    first_line: int = 0,
    progress: bool = False,
) -> Iterator[EncodedText]:
    """Encode a text some pairs at a time; `first_line` is the line of its first pair."""
    starts = range(0, max(1, len(text)), CHUNK)
    for start in tqdm(starts, "pieces", delay=3, disable=None if progress else True):
        chunk = slice(start, start + CHUNK)
        pairs = ParallelText(text.source[chunk], text.target[chunk])
        lines = np.arange(len(pairs)) + first_line + start
        yield encode_chunk(pairs, tokenizers, max_pieces, lines)


def encode_chunk(
    pairs: ParallelText, tokenizers: tuple[Tokenizer, Tokenizer], max_pieces: int, lines: Ints
) -> EncodedText:
    """Encode some pairs at once, which are these lines of the text."""
    sides = []
    for side, tokenizer in zip((pairs.source, pairs.target), tokenizers, strict=True):
        ids = tokenizer.encode_all(side)
        stored = np.fromiter(chain.from_iterable(ids), stored_type(tokenizer.vocab_size))
        sides.append(Sentences.from_arrays(stored, np.fromiter(map(len, ids), np.int64, len(ids))))
    lengths = np.array([side.lengths() for side in sides])
    usable = np.flatnonzero(((lengths > 0) & (lengths < max_pieces)).all(0))
    source, target = (side.take(usable) for side in sides)
    return EncodedText(source, target, lines[usable], len(pairs) - len(usable))


def join_chunks(chunks: Iterable[EncodedText]) -> EncodedText:
    """Join the pairs of all chunks."""
    all_ = list(chunks)
    source, target = (
        Sentences.from_arrays(
            np.concatenate([side.stored for side in sides]),
            np.concatenate([side.lengths() for side in sides]),
        )
        for sides in ([chunk.source for chunk in all_], [chunk.target for chunk in all_])
    )
    lines = np.concatenate([np.asarray(chunk.lines, np.int64) for chunk in all_])
    return EncodedText(source, target, lines, sum(chunk.left_out for chunk in all_))


SOURCE_PIECES, SOURCE_ENDS = "source.pieces", "source.ends"
TARGET_PIECES, TARGET_ENDS = "target.pieces", "target.ends"
LINES = "lines"
NAMES = (SOURCE_PIECES, SOURCE_ENDS, TARGET_PIECES, TARGET_ENDS, LINES)


def arrays(text: EncodedText) -> dict[str, NDArray[np.integer]]:
    """Return the arrays that the files of a text hold: pieces, sentence ends, line numbers."""
    return {
        SOURCE_PIECES: text.source.stored,
        SOURCE_ENDS: text.source.ends,
        TARGET_PIECES: text.target.stored,
        TARGET_ENDS: text.target.ends,
        LINES: np.asarray(text.lines, dtype=np.int64),
    }


def types(pieces: DTypeLike) -> dict[str, np.dtype[Any]]:
    """Return the number type of each file, little-endian."""
    ids = dict.fromkeys((SOURCE_PIECES, TARGET_PIECES), np.dtype(pieces).newbyteorder("<"))
    return dict.fromkeys(NAMES, np.dtype("<i8")) | ids


class EncodedFiles:
    """The five files of an encoded text, open for writing."""

    def __init__(self, files: Mapping[str, BinaryIO], pieces: DTypeLike) -> None:
        self._files, self._types = files, types(pieces)
        for name in (SOURCE_ENDS, TARGET_ENDS):
            self._write(name, np.zeros(1, np.int64))

    def append(self, text: EncodedText) -> None:
        """Write further pairs behind those that are there."""
        further = arrays(text)
        for ends, pieces in ((SOURCE_ENDS, SOURCE_PIECES), (TARGET_ENDS, TARGET_PIECES)):
            there = self._files[pieces].tell() // self._types[pieces].itemsize
            further[ends] = further[ends][1:] + there
        for name, content in further.items():
            self._write(name, content)

    def _write(self, name: str, array: NDArray[np.integer]) -> None:
        self._files[name].write(np.ascontiguousarray(array, self._types[name]).data)


def checksums(text: EncodedText) -> dict[str, str]:
    """Compute the SHA-256 of each file, which need not have been written."""
    dtypes = types(text.source.stored.dtype)
    return {
        name: hashlib.sha256(np.ascontiguousarray(array, dtypes[name]).data).hexdigest()
        for name, array in arrays(text).items()
    }


def mapped_text(folder: Path, pieces: DTypeLike, left_out: int) -> EncodedText:
    """Map the text of the five files of a folder into memory."""
    source, source_ends, target, target_ends, lines = (
        np.asarray(np.memmap(folder / name, dtype, "r")) for name, dtype in types(pieces).items()
    )
    sides = Sentences.from_ends(source, source_ends), Sentences.from_ends(target, target_ends)
    return EncodedText(*sides, lines, left_out)


@dataclass(frozen=True)
class Part:
    """The rows of one folder, and how often an epoch reads each of them."""

    rows: int
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class TrainingText:
    """Encoded pairs in parts, one behind the other; checksums of the files where they are known."""

    encoded: EncodedText
    parts: tuple[Part, ...]
    checksums: Mapping[str, str] = field(default_factory=dict)

    def rows(self, seed: int, epoch: int) -> Ints:
        """Return the numbers of the rows that an epoch reads.

        Of a part of weight w each row comes ⌊w⌋ times; for the rest, rows are drawn at random, none
        of them twice, so many that after any number of epochs w times all rows were read, to the
        nearest whole number.
        """
        chosen, start = [np.arange(0)], 0
        for number, part in enumerate(self.parts):
            often, rest = divmod(part.weight, 1)
            rows = np.arange(start, start + part.rows)
            chosen += [rows] * int(often)
            if further := _until(epoch + 1, rest, part.rows) - _until(epoch, rest, part.rows):
                random = np.random.default_rng((seed, epoch, number))
                drawn = random.choice(part.rows, further, replace=False, shuffle=False)
                chosen.append(np.sort(drawn) + start)
            start += part.rows
        return np.concatenate(chosen)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the pieces, their order, their lines and the weights."""
        known = self.checksums or checksums(self.encoded)
        parts = [astuple(part) for part in self.parts]
        written = json.dumps([known, parts], sort_keys=True)
        return hashlib.sha256(written.encode()).hexdigest()


def _until(epoch: int, weight: float, rows: int) -> int:
    """Count the rows that all earlier epochs draw for a weight below 1."""
    return math.floor(epoch * weight * rows + 0.5)
