"""One tensor as Streamlit mounts it: a row for each token, a column for each feature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viz.draw.labels import shown
from viz.draw.packet import run_of_bytes
from viz.draw.palette import difference_table, largest_colour


def tensor_packet(
    values: NDArray[np.float32],
    rows: Sequence[str],
    *,
    title: str,
    columns: Sequence[str] | None = None,
) -> bytes:
    """What `tensor_strip.js` draws, in the form of `packet.py`: JSON, colours, values.

    Raises:
        ValueError: if a label is missing or too many, or a value is not a number.
    """
    if values.shape != (len(rows), values.shape[-1] if columns is None else len(columns)):
        raise ValueError(f"values of shape {values.shape} for {len(rows)} rows")
    if not values.size or not np.isfinite(values).all():
        raise ValueError("nothing to draw, or some values are not numbers")
    header = {
        "title": title,
        "rows": shown(rows),
        "columns": values.shape[1],
        "columnNames": None if columns is None else shown(columns),
        "end": largest_colour(values),
        "dtype": "float32",
    }
    colors = difference_table("light"), difference_table("dark")
    return run_of_bytes(header, *colors, values.astype("<f4"))
