"""Cleaning of parallel text: which pairs are dropped before training, and for which reason."""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.data.corpus import ParallelText
from training.data.sentences import Counts

Reasons = NDArray[np.uint8]
KEPT, TOO_LONG, UNLIKE, REPEATED = range(4)
"""What becomes of a pair; the first reason counts."""


@dataclass(frozen=True)
class Cleaning:
    """Limits that a pair must keep; None sets no limit.

    Args:
        longest_words: pairs with more words on a side, as spaces part them; None drops none.
        ratio: pairs of which one side has more than so many times the words of the other; None
            drops none. Where a side is empty there is no ratio.
        drop_duplicates: pairs that came before, both sides alike.
    """

    longest_words: int | None = None
    ratio: float | None = None
    drop_duplicates: bool = False

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


class Cleaner:
    """Judges the pairs of a text, some at a time.

    Two pairs are taken for the same when their 64-bit hashes are: of 4.5 million different pairs
    some two are so with a probability of 10^-6. A pair takes 9 bytes of memory.

    Args:
        cleaning: what is dropped.
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
        """`[pair]`, what becomes of each of those that were looked at."""
        reasons = np.array(self._reasons, dtype=np.uint8)
        if self.cleaning.drop_duplicates:
            retained = np.flatnonzero(reasons == KEPT)
            hashes = np.frombuffer(self._hashes, dtype=np.uint64)[retained]
            order = np.argsort(hashes, kind="stable")  # of those that are alike, the first is first
            again = hashes[order[1:]] == hashes[order[:-1]]
            reasons[retained[order[1:][again]]] = REPEATED
        return reasons


def counts(reasons: Reasons) -> dict[int, int]:
    """Count the dropped pairs of each reason."""
    totals = np.bincount(reasons, minlength=REPEATED + 1)
    return {reason: int(totals[reason]) for reason in (TOO_LONG, UNLIKE, REPEATED)}


def _words(lines: list[str]) -> Counts:
    return np.fromiter((len(line.split()) for line in lines), np.int64, len(lines))


def _hash(source: str, target: str) -> int:
    pair = f"{source}\n{target}".encode()  # no line holds a line feed
    return int.from_bytes(hashlib.blake2b(pair, digest_size=8).digest(), "little")
