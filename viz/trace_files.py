"""The weights of each sentence, or their shares by a lens, as files in a folder."""

import csv
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from transformer.analysis.lenses import AnyLens
from transformer.analysis.sinks import without_sinks
from transformer.errors import HeadlightError, InputError, unwritable
from transformer.files.atomic import require_room, write_file
from transformer.trace import AttentionTrace
from viz.draw.caption import LENS_NAMES, WITHOUT_SINKS, amount, tells_heads

FORMATS = ("npz", "csv", "parquet")
DEFAULT_FORMATS = ("npz", "csv")


@dataclass(frozen=True)
class TraceFiles:
    """Folder, formats and lens in which traces are written, as `line-0007.npz`."""

    folder: Path
    formats: Sequence[str]
    lens: AnyLens
    sinks: bool = True

    def require_free(self) -> None:
        """Refuse, before anything is computed, a folder with a file of a name to be written."""
        try:
            require_room(self.folder)
            there = sorted(self.folder.iterdir()) if os.path.lexists(self.folder) else []
        except OSError as error:
            reason = OSError(error.errno, error.strerror)  # of the folder, not of one above it
            raise InputError(unwritable(reason, self.folder)) from error
        pattern = re.compile(rf"line-\d{{4,}}\.({'|'.join(self.formats)})")
        if taken := [path for path in there if pattern.fullmatch(path.name)]:
            raise InputError(
                f"{taken[0]} is there already: move it away, or choose another folder."
            )

    def write(self, number: int, trace: AttentionTrace) -> None:
        """Write one trace, each file complete or absent; a failure is no InputError of the line."""
        if not self.sinks:
            trace = without_sinks(trace)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for ending in self.formats:
                path = self.folder / f"line-{number:04}.{ending}"
                if ending == "npz":
                    name_lens(trace, self.lens).save(path)
                    continue
                to_bytes = csv_bytes if ending == "csv" else parquet_bytes
                write_file(path, to_bytes(lens_frame(trace, self.lens, sinks=self.sinks)))
        except OSError as error:
            raise HeadlightError(unwritable(error, self.folder)) from error


def name_lens(trace: AttentionTrace, lens: AnyLens) -> AttentionTrace:
    """Return the trace with a note that names its lens, unless it shows the weights themselves."""
    if lens == "weights":
        return trace
    note = f"The lens is {LENS_NAMES[lens]}: these are shares, not the weights themselves."
    return replace(trace, notes=(*trace.notes, note))


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Format rows as CSV with a BOM, by which Excel knows UTF-8; half a surrogate pair is `?`."""
    # quoted, no text becomes a formula where a spreadsheet separates at `;`, too
    text = frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
    return text.encode("utf-8-sig", errors="replace")


def parquet_bytes(frame: pd.DataFrame) -> bytes:
    """Write rows as Parquet."""
    content = io.BytesIO()
    frame.to_parquet(content, index=False)
    return content.getvalue()


def column(lens: AnyLens, *, sinks: bool) -> str:
    """Name the column of the numbers, such as `weight` or `share_without_sinks`."""
    return "_".join([amount(lens), *([] if sinks else WITHOUT_SINKS.split())])


def lens_frame(trace: AttentionTrace, lens: AnyLens, *, sinks: bool = True) -> pd.DataFrame:
    """Return the rows of `to_frame` for a lens, with heads where it has them."""
    frame = trace.to_frame().rename(columns={"weight": column(lens, sinks=sinks)})
    if not tells_heads(lens):
        frame = frame.drop(columns="head")
    frame.insert(0, "lens", lens)
    return frame
