"""The weights of each sentence as files in a folder: NPZ, and the rows of `to_frame`."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer.errors import HeadlightError, unwritable
from transformer.trace import AttentionTrace

FORMATS = ("npz", "csv", "parquet")
DEFAULT_FORMATS = ("npz", "csv")


@dataclass(frozen=True)
class TraceFiles:
    """Where and how traces are written: `line-0007.npz`, `line-0007.csv`.

    Args:
        folder: made when the first trace is written, unless it is there; what else is in it stays.
        formats: of `FORMATS`.
    """

    folder: Path
    formats: Sequence[str]

    def write(self, number: int, trace: AttentionTrace) -> None:
        """Write one trace; each of its files is there whole or not at all.

        Raises:
            HeadlightError: if the folder or a file in it cannot be written; no InputError, which
                would be the fault of one line.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for ending in self.formats:
                path = self.folder / f"line-{number:04}.{ending}"
                # a name of this thread's own: several write at once
                new = path.with_name(f".{os.getpid()}-{threading.get_ident()}.new")
                try:
                    _write(trace, new, ending)
                    new.replace(path)
                finally:
                    new.unlink(missing_ok=True)
        except OSError as error:
            error.filename = None  # a name that nobody knows
            raise HeadlightError(unwritable(error, self.folder)) from error


def _write(trace: AttentionTrace, path: Path, ending: str) -> None:
    if ending == "npz":
        trace.save(path)
    elif ending == "csv":
        # a token with half a letter stops no file
        trace.to_frame().to_csv(path, index=False, encoding="utf-8", errors="replace")
    else:
        trace.to_frame().to_parquet(path, index=False)
