"""One tensor as Streamlit mounts it: a row for each token, a column for each feature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from viz.draw.bundle import script, style
from viz.draw.labels import shown
from viz.draw.packet import run_of_bytes
from viz.draw.palette import difference_table, largest_colour

# the shadow root keeps Streamlit's styles out and these in
_tensor_strip = st.components.v2.component(
    "headlight_tensor_strip", js=script("tensor_strip.js"), css=style()
)


def tensor_strip(
    values: NDArray[np.float32],
    rows: Sequence[str],
    *,
    title: str,
    key: str,
    columns: Sequence[str] | None = None,
) -> None:
    """Draw a tensor large, each value a hover away.

    Args:
        values: `[row, column]`; they reach the browser exactly.
        rows: the token of each row.
        title: names the picture for those who do not see it.
        key: names the component in the session; one key, one place on the page.
        columns: what each column is; features, counted from 1, unless told.

    Raises:
        ValueError: if a label is missing or too many, or a value is not a number.
    """
    _tensor_strip(key=key, data=tensor_packet(values, rows, title=title, columns=columns))


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
