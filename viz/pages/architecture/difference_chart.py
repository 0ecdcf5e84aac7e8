"""What each change of Table 3 does, in the paper and here."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from viz.figures.colors import GREY, OCHRE, VIOLET

COLORS = {"paper": OCHRE, "here": VIOLET}
"""None of them can be taken for a kind of attention."""

PANELS = {
    "bleu": ("BLEU, more than the base", 0.0),
    "perplexity": ("perplexity, times the base's", 1.0),
}
"""Title, and where the base itself lies, by what is compared."""

ROW = 30  # CSS pixels


def difference_chart(
    changes: Sequence[tuple[str, str, float, float]], column: str
) -> alt.LayerChart:
    """What each change does against its own base, in the paper and here.

    Args:
        changes: name of the row, `paper` or `here`, BLEU more than the base, and perplexity over
            the base's.
        column: one of `PANELS`.
    """
    title, base = PANELS[column]
    frame = pd.DataFrame(changes, columns=["row", "whose", "bleu", "perplexity"])
    names = list(dict.fromkeys(frame["row"]))
    domain, colors = list(COLORS), list(COLORS.values())
    dots = (
        alt.Chart(frame, height=len(names) * ROW + 90)  # with the axis and the legend
        .mark_point(filled=True, size=90, opacity=0.9)
        .encode(
            x=alt.X(f"{column}:Q", title=title, scale=alt.Scale(zero=False, padding=14)),
            y=alt.Y(
                "row:N",
                sort=names,
                title=None,
                axis=alt.Axis(ticks=False, grid=True, labelLimit=220),
            ),
            color=alt.Color(
                "whose:N",
                scale=alt.Scale(domain=domain, range=colors),
                legend=alt.Legend(title=None, orient="top"),
            ),
            shape=alt.Shape("whose:N", scale=alt.Scale(domain=domain), legend=None),
            tooltip=[
                alt.Tooltip("row:N"),
                alt.Tooltip("whose:N"),
                alt.Tooltip("bleu:Q", format="+.2f", title="BLEU more"),
                alt.Tooltip("perplexity:Q", format=".3f", title="perplexity, times"),
            ],
        )
    )
    rule = alt.Chart(pd.DataFrame({"base": [base]})).mark_rule(
        strokeDash=[4, 3], strokeWidth=1.5, color=GREY
    )
    return rule.encode(x="base:Q") + dots
