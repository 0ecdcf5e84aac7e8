"""One tensor: what travels for `js/tensor_strip`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viz.draw.labels import display_tokens
from viz.draw.palette import difference_table, largest_colour
from viz.draw.wire import encode


def encode_strip(
    values: NDArray[np.float32],
    rows: Sequence[str],
    *,
    title: str,
    columns: Sequence[str] | None = None,
    caption: Sequence[str] = (),
) -> bytes:
    """Encode a tensor: a row for each token, a column for each feature.

    Args:
        values: `[token, feature]`; they reach the browser exactly.
        rows: the tokens.
        title: a picture that is saved takes its file name from it.
        columns: pieces of the vocabulary, where the columns are these.
        caption: what the picture was made from, for a file that is saved.

    Raises:
        ValueError: if a label is missing or too many, or a value is not a number.
    """
    if values.shape != (len(rows), values.shape[-1] if columns is None else len(columns)):
        raise ValueError(f"values of shape {values.shape} for {len(rows)} rows")
    if not values.size or not np.isfinite(values).all():
        raise ValueError("nothing to draw, or some values are not numbers")
    meta = {
        "component": "tensor_strip",
        "caption": list(caption),
        "title": title,
        "rows": display_tokens(rows),
        "columnNames": None if columns is None else display_tokens(columns),
        "end": largest_colour(values),
    }
    arrays: dict[str, NDArray] = {
        "values": values.astype(np.float32),
        "light": difference_table("light"),
        "dark": difference_table("dark"),
    }
    return encode(meta, arrays)
