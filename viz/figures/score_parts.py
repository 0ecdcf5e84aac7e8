"""One attention score as a map: what the query is made of by what the key is made of."""

import altair as alt
import pandas as pd

from viz.figures import axes, forms


def score_map(parts: pd.DataFrame) -> alt.Chart:
    """Draw parts of a score, query part by key part: purple above 0, olive below."""
    table = parts.rename_axis("query").melt(var_name="key", ignore_index=False).reset_index()
    table["strength"] = table["value"].abs()
    largest = float(table["strength"].max()) or 1.0
    opacity = alt.FillOpacity(
        "strength:Q", scale=alt.Scale(domain=[0, largest], range=[0, 1]), legend=None
    )
    labels = {"labelLimit": 150, "labelOverlap": False}
    slanted = axes.bare_axis(labelAngle=-60, **labels)
    x = alt.X("key:N", sort=list(parts.columns), title="key", axis=slanted)
    y = alt.Y("query:N", sort=list(parts.index), title="query", axis=axes.bare_axis(**labels))
    below = {"test": "datum.value < 0", "value": axes.OLIVE}
    color = alt.ColorValue(axes.PURPLE, condition=below)
    squares = alt.Chart(table, height={"step": 24}).mark_rect(
        stroke=axes.GREY, strokeOpacity=0.2, strokeWidth=1, aria=False
    )
    tooltip = forms.tips("query", "key", value=("part of the score", "+.4f"))
    return squares.encode(x, y, opacity, color=color, tooltip=tooltip)
