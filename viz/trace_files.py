"""Weights of a sentence, or their shares by a lens, as tables and files."""

import csv
import io
from dataclasses import replace

import pandas as pd

from transformer.analysis.lenses import AnyLens
from transformer.trace import AttentionTrace
from viz.draw.caption import LENS_NAMES, WITHOUT_SINKS, amount, tells_heads


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
