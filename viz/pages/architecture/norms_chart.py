"""How far tokens and features spread after layer norm and after batch norm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from viz.figures.colors import OCHRE, VIOLET

COLORS = {"layer norm": VIOLET, "batch norm": OCHRE}
"""None of them can be taken for a kind of attention."""

HEIGHT = 340  # CSS pixels

Floats = npt.NDArray[np.float64]


def spread_chart(
    spreads: Mapping[str, Floats],
    names: Sequence[str],
    what: str,
    most: float,
) -> alt.Chart:
    """Standard deviations of all tokens, or of all features, after each norm.

    Args:
        spreads: `[token]` or `[feature]` by the name of the norm, one of `COLORS`.
        names: of the tokens or of the features, in their order.
        what: `token` or `feature`.
        most: end of the vertical axis; two charts beside each other share one.
    """
    frame = pd.concat(
        pd.DataFrame(
            {"norm": norm, "at": np.arange(1, len(names) + 1), "of": names, "spread": spread}
        )
        for norm, spread in spreads.items()
    )
    return (
        alt.Chart(frame, height=HEIGHT)
        .mark_point(filled=True, size=26, opacity=0.85)
        .encode(
            x=alt.X("at:Q", title=what, axis=alt.Axis(grid=False, tickMinStep=1, format="d")),
            y=alt.Y(
                "spread:Q",
                title=f"standard deviation of a {what}",
                scale=alt.Scale(domain=[0, most * 1.05]),
                axis=alt.Axis(tickCount=5),
            ),
            color=alt.Color(
                "norm:N",
                scale=alt.Scale(domain=list(COLORS), range=list(COLORS.values())),
                legend=alt.Legend(title=None, orient="top"),
            ),
            tooltip=[
                alt.Tooltip("norm:N"),
                alt.Tooltip("of:N", title=what),
                alt.Tooltip("spread:Q", format=".4f"),
            ],
        )
    )
