"""What a model learns, part by part."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from viz.draw.palette import COLOR
from viz.figures.axes import tick_label
from viz.figures.colors import INK, OCHRE, PINK, SLATE, VIOLET

COLORS = {
    "embedding and projection": VIOLET,
    "learned positions": PINK,
    "encoder self-attention": COLOR["encoder_self"],
    "decoder self-attention": COLOR["decoder_self"],
    "cross-attention": COLOR["cross"],
    "feed-forward networks": OCHRE,
    "layer norms": SLATE,
}
"""The kinds of attention have their own colours; what is no attention has none of these."""


ROW = 64  # of a bar with its room, in CSS pixels
LEGEND = 200  # of the plot's height goes to the axis and the legend


def millions(count: int) -> str:
    """A count as people say it: 63.05 M; what is small is written out."""
    return f"{count / 1e6:,.2f} M" if count >= 1e5 else f"{count:,}"


def parts_chart(models: Mapping[str, Mapping[str, int]]) -> alt.LayerChart:
    """One stacked bar for each model, with the total at its end.

    Args:
        models: how many parameters each part has, by the name of the model, then of the part.
    """
    order = {part: n for n, part in enumerate(COLORS)}
    frame = pd.DataFrame(
        [
            {"model": model, "part": part, "count": count, "order": order[part],
             "share": count / sum(parts.values())}
            for model, parts in models.items()
            for part, count in parts.items()
            if count
        ]
    )  # fmt: skip
    totals = pd.DataFrame(
        [
            {"model": model, "count": sum(parts.values()), "label": millions(sum(parts.values()))}
            for model, parts in models.items()
        ]
    )
    y = alt.Y("model:N", sort=list(models), title=None, axis=alt.Axis(labelLimit=160, ticks=False))
    # room for the words at the end of the longest bar
    scale = alt.Scale(domain=[0, float(totals["count"].max()) * 1.22])
    x = alt.X(
        "count:Q",
        title="parameters",
        scale=scale,
        axis=alt.Axis(labelExpr=tick_label("~s"), tickCount=5),
    )
    bars = (
        alt.Chart(frame, height=ROW * len(models) + LEGEND)
        .mark_bar(height={"band": 0.62})
        .encode(
            x=x,
            y=y,
            order="order:O",
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=list(COLORS), range=list(COLORS.values())),
                legend=alt.Legend(title=None, orient="bottom", columns=1, labelLimit=200),
            ),
            tooltip=[
                alt.Tooltip("model:N"),
                alt.Tooltip("part:N"),
                alt.Tooltip("count:Q", format=","),
                alt.Tooltip("share:Q", format=".2%"),
            ],
        )
    )
    words = (
        alt.Chart(totals)
        .mark_text(align="left", dx=6, fontSize=13, color=INK)
        .encode(x=alt.X("count:Q", scale=scale), y=y, text="label:N")
    )
    return bars + words
