"""The weights of each sentence as files in a folder: NPZ, and the rows of `to_frame`."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer.atomic import write_file
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
                if ending == "npz":
                    trace.save(path)
                else:
                    write_file(path, _rows(trace, ending))
        except OSError as error:
            raise HeadlightError(unwritable(error, self.folder)) from error


def _rows(trace: AttentionTrace, ending: str) -> bytes:
    """The rows of `to_frame`, as CSV or Parquet."""
    written = io.BytesIO()
    if ending == "csv":
        # a token with half a letter stops no file
        trace.to_frame().to_csv(written, index=False, encoding="utf-8", errors="replace")
    else:
        trace.to_frame().to_parquet(written, index=False)
    return written.getvalue()
