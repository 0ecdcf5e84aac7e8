"""Distances of a head: its rows by the distance from the row to its largest weight."""

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

_HEIGHT = 220  # CSS pixels


def offset_histogram(counts: NDArray[np.integer], color: str) -> alt.Chart:
    """Draw the share of the rows at each offset, key less query, as far as there are any.

    Args:
        counts: rows at each offset, `[2 · largest + 1]`, from -largest on.
        color: colour of the bars.
    """
    largest = len(counts) // 2
    rows = np.flatnonzero(counts)
    shown = np.arange(rows.min(), rows.max() + 1) if rows.size else np.array([largest])
    table = pd.DataFrame(
        {
            "offset": shown - largest,
            "rows": counts[shown],
            "share": counts[shown] / max(counts.sum(), 1),
        }
    )
    x = alt.X(
        "left:Q",
        title="column of the largest weight − row, in subwords",
        axis=alt.Axis(grid=False, tickMinStep=1, format="d"),
    )
    y = alt.Y("share:Q", title="rows", axis=alt.Axis(format="%", tickCount=4))
    tooltip = [
        alt.Tooltip("offset:Q", format="+d"),
        alt.Tooltip("rows:Q", format=","),
        alt.Tooltip("share:Q", format=".1%"),
    ]
    # as wide as the distance of two bars
    bars = alt.Chart(table, height=_HEIGHT).transform_calculate(
        left="datum.offset - 0.45", right="datum.offset + 0.45"
    )
    return bars.mark_bar(color=color).encode(x, y, x2="right:Q", y2=alt.datum(0), tooltip=tooltip)
