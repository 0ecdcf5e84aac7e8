"""Tables as the content of files: CSV for spreadsheets, and Parquet."""

from __future__ import annotations

import csv
import io

import pandas as pd


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Format rows as CSV with the mark by which Excel knows UTF-8; half a letter is `?`.

    Every text is quoted: a spreadsheet that also splits at `;` would compute what follows one.
    """
    text = frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
    return text.encode("utf-8-sig", errors="replace")


def parquet_bytes(frame: pd.DataFrame) -> bytes:
    """Write rows as Parquet."""
    content = io.BytesIO()
    frame.to_parquet(content, index=False)
    return content.getvalue()
