"""A first look at a text that is to be prepared: is it whole, what is dropped, what is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from training.data.cleaning import KEPT, Cleaner, Cleaning, Reasons
from training.data.corpus import SOURCE, TARGET, ParallelText, pair_chunks
from training.data.folders import DataFolder
from training.data.lines import CHUNK, line_chunks
from training.data.sealed import MOST_BYTES

SEED = 0  # of what is drawn


@dataclass(frozen=True, eq=False)
class Scan:
    """Result of a scan of the training text.

    Args:
        pairs: of each folder.
        reasons: `[pair]` of all folders, what becomes of each.
    """

    pairs: tuple[int, ...]
    reasons: Reasons


def sides(folder: DataFolder) -> tuple[Path, Path]:
    """Return the two files of the training text of a folder."""
    return folder.path / f"train.{SOURCE}", folder.path / f"train.{TARGET}"


def folder_chunks(folder: DataFolder) -> Iterator[ParallelText]:
    """Yield chunks of pairs of the training text of a folder, as `pair_chunks` does."""
    return pair_chunks(*sides(folder), MOST_BYTES)


def scan(folders: Sequence[DataFolder], cleaning: Cleaning) -> Scan:
    """Read all text once, some lines at a time.

    Raises:
        CorpusError: if a file cannot be read, is not UTF-8, is empty, or has more lines than the
            one beside it.
    """
    cleaner = Cleaner(cleaning)
    counts = [0] * len(folders)
    with tqdm(desc="reading", unit=" pairs", unit_scale=True, disable=None) as bar:
        for number, folder in enumerate(folders):
            for pairs in folder_chunks(folder):
                cleaner.judge(pairs)
                counts[number] += len(pairs)
                bar.update(len(pairs))
    return Scan(tuple(counts), cleaner.reasons())


def drawn_pairs(scan: Scan, lines: int) -> NDArray[np.bool_]:
    """`[pair]`, whether the vocabulary is learnt on it.

    All that are kept, or, where these have more lines, so many drawn over the whole text.
    """
    retained = np.flatnonzero(scan.reasons == KEPT)
    if 2 * len(retained) > lines:
        retained = np.random.default_rng(SEED).choice(
            retained, lines // 2, replace=False, shuffle=False
        )
    drawn = np.zeros(len(scan.reasons), dtype=bool)
    drawn[retained] = True
    return drawn


def drawn_lines(folders: Sequence[DataFolder], drawn: NDArray[np.bool_]) -> Iterator[str]:
    """Yield the lines of drawn pairs: first all sources, then all targets."""
    for side in range(2):
        first = 0
        for folder in folders:
            for lines in line_chunks(sides(folder)[side], CHUNK, MOST_BYTES):
                yield from compress(lines, drawn[first : first + len(lines)].tolist())
                first += len(lines)
