"""Scan of a text to be prepared: which pairs are dropped, and which lines are drawn."""

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from training.data.corpus import ParallelText
from training.data.encoded_text import Counts
from training.data.text_folders import DataFolder

SEED = 0  # of what is drawn

Reasons = NDArray[np.uint8]
KEPT, TOO_LONG, UNLIKE, REPEATED = range(4)
"""What becomes of a pair; the first reason counts."""


@dataclass(frozen=True)
class Cleaning:
    """Limits that a pair must keep; None sets no limit."""

    # pairs with more words on a side, as spaces part them; None drops none
    longest_words: int | None = None
    # pairs of which one side has more than so many times the words of the other; None drops none.
    # Where a side is empty there is no ratio.
    ratio: float | None = None
    drop_duplicates: bool = False  # pairs that came before, both sides alike

    def names(self) -> dict[int, str]:
        """Name each reason that is checked."""
        names = {}
        if self.longest_words is not None:
            names[TOO_LONG] = f"with more than {self.longest_words:,} words"
        if self.ratio is not None:
            names[UNLIKE] = f"with more than {self.ratio:g} times the words on one side"
        if self.drop_duplicates:
            names[REPEATED] = "that came before"
        return names

    def dropped(self, reasons: Reasons) -> dict[str, int]:
        """Count the dropped pairs by the name of each reason that is checked."""
        totals = np.bincount(reasons, minlength=REPEATED + 1)
        return {name: int(totals[reason]) for reason, name in self.names().items()}


class Cleaner:
    """Judges the pairs of a text, some at a time.

    Two pairs are taken for the same when their 64-bit hashes are: of 4.5 million different pairs
    some two are so with a probability of 10^-6. A pair takes 9 bytes of memory.
    """

    def __init__(self, cleaning: Cleaning) -> None:
        self.cleaning = cleaning
        self._reasons = array("B")
        self._hashes = array("Q")

    def judge(self, pairs: ParallelText) -> None:
        """Look at the next pairs of the text."""
        reasons = np.full(len(pairs), KEPT, np.uint8)
        longest, ratio = self.cleaning.longest_words, self.cleaning.ratio
        if longest is not None or ratio is not None:
            words = np.array([_words(pairs.source), _words(pairs.target)])
            more, fewer = words.max(0), words.min(0)
            if ratio is not None:
                reasons[(fewer > 0) & (more > ratio * fewer)] = UNLIKE
            if longest is not None:
                reasons[more > longest] = TOO_LONG
        self._reasons.frombytes(reasons.tobytes())
        if self.cleaning.drop_duplicates:
            self._hashes.extend(map(_hash, pairs.source, pairs.target))

    def reasons(self) -> Reasons:
        """Return why each pair read so far is kept or dropped, `[pair]`."""
        reasons = np.array(self._reasons, dtype=np.uint8)
        if self.cleaning.drop_duplicates:
            retained = np.flatnonzero(reasons == KEPT)
            hashes = np.frombuffer(self._hashes, dtype=np.uint64)[retained]
            order = np.argsort(hashes, kind="stable")  # of those that are alike, the first is first
            again = hashes[order[1:]] == hashes[order[:-1]]
            reasons[retained[order[1:][again]]] = REPEATED
        return reasons


def _words(lines: list[str]) -> Counts:
    return np.fromiter((len(line.split()) for line in lines), np.int64, len(lines))


def _hash(source: str, target: str) -> int:
    pair = f"{source}\n{target}".encode()  # no line holds a line feed
    return int.from_bytes(hashlib.blake2b(pair, digest_size=8).digest(), "little")


def scan(folders: Sequence[DataFolder], cleaning: Cleaning) -> Reasons:
    """Read all text once, some lines at a time; return what becomes of each pair, `[pair]`."""
    cleaner = Cleaner(cleaning)
    with tqdm(desc="reading", unit=" pairs", unit_scale=True, disable=None) as bar:
        for pairs in chain.from_iterable(folder.files().chunks() for folder in folders):
            cleaner.judge(pairs)
            bar.update(len(pairs))
    return cleaner.reasons()


def drawn_pairs(reasons: Reasons, lines: int) -> NDArray[np.bool_]:
    """Mark the pairs that the vocabulary is learnt on: those kept, or a sample of `lines` lines."""
    retained = np.flatnonzero(reasons == KEPT)
    if 2 * len(retained) > lines:
        retained = np.random.default_rng(SEED).choice(
            retained, lines // 2, replace=False, shuffle=False
        )
    drawn = np.zeros(len(reasons), dtype=bool)
    drawn[retained] = True
    return drawn


def drawn_lines(folders: Sequence[DataFolder], drawn: NDArray[np.bool_]) -> Iterator[str]:
    """Yield the lines of drawn pairs: first all sources, then all targets."""
    for side in range(2):
        first = 0
        for folder in folders:
            for lines in folder.files().side(side):
                yield from compress(lines, drawn[first : first + len(lines)].tolist())
                first += len(lines)
