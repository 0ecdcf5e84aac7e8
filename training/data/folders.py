"""The folders of text of a run, each with how often an epoch reads it."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from training.data.corpus import ParallelText, read_parallel

MOST_WEIGHT = 1_000.0


@dataclass(frozen=True)
class DataFolder:
    """A folder of text.

    Args:
        path: the folder.
        weight: how often an epoch reads each of its pairs; of 2.5, all twice and every second one
            once more.
    """

    path: Path
    weight: float = 1.0


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


def read_training_texts(folders: Sequence[DataFolder]) -> list[ParallelText]:
    """Read the training text of each folder, weights aside."""
    return [read_parallel(folder.path / "train") for folder in folders]
