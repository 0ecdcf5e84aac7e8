"""Token ids of many sentences in two arrays, which may lie in memory or in mapped files."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
StoredIds = NDArray[np.int32] | NDArray[np.uint16]


class Sentences(Sequence[list[int]]):
    """Token ids of many sentences: two or four bytes a piece, where a list takes up to 36.

    Args:
        sentences: the ids of each; read once.

    Attributes:
        stored: the ids of all sentences, one behind the other.
        ends: `[sentence + 1]`, where each begins among them and, last, where the last one ends.
    """

    def __init__(self, sentences: Iterable[Sequence[int]] = ()) -> None:
        pieces, ends = array("i"), array("q", [0])
        for ids in sentences:
            pieces.extend(ids)
            ends.append(len(pieces))
        self.stored: StoredIds = np.array(pieces, dtype=np.int32)
        self.ends: Counts = np.array(ends, dtype=np.int64)

    @classmethod
    def from_ends(cls, stored: StoredIds, ends: Counts) -> Sentences:
        """From the two arrays, which are not copied."""
        sentences = cls.__new__(cls)
        sentences.stored, sentences.ends = stored, ends
        return sentences

    @classmethod
    def from_arrays(cls, pieces: StoredIds, lengths: Counts) -> Sentences:
        """From the ids of all sentences, one behind the other, and how many each has."""
        return cls.from_ends(pieces, np.append(0, np.cumsum(lengths, dtype=np.int64)))

    def pieces(self, rows: slice = slice(None)) -> Ids:
        """Return the concatenated ids of consecutive sentences."""
        start, stop, _ = rows.indices(len(self))
        return self.stored[self.ends[start] : self.ends[max(start, stop)]].astype(np.int32)

    def lengths(self, rows: slice = slice(None)) -> Counts:
        """`[sentence]`, pieces in each of these."""
        start, stop, _ = rows.indices(len(self))
        return np.diff(self.ends[start : max(start, stop) + 1])

    def take(self, rows: Counts) -> Sentences:
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
        ids: list[int] = self.stored[self.ends[rows] : self.ends[rows + 1]].tolist()
        return ids


def spans(starts: Counts, counts: Counts) -> Counts:
    """Return start, start + 1, … of each span, concatenated."""
    firsts = np.cumsum(counts) - counts  # where each begins among them
    return np.repeat(starts - firsts, counts) + np.arange(counts.sum())


def stored_type(vocab_size: int) -> type[np.uint16] | type[np.int32]:
    """Return the type in which the ids of a vocabulary are stored: two bytes where they suffice."""
    return np.uint16 if vocab_size <= 2**16 else np.int32
