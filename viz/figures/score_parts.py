"""One attention score as a map: what the query is made of by what the key is made of."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from viz.figures import axes, forms

TINY = 1e-9  # keeps the scale finite if every part is 0


def score_map(
    query_parts: Sequence[str], key_parts: Sequence[str], values: npt.NDArray[np.floating]
) -> alt.Chart:
    """Draw parts of a score, `[query part, key part]`: purple above 0, olive below."""
    rows, columns = (index.ravel().tolist() for index in np.indices(values.shape))
    table = pd.DataFrame(
        {
            "query": [query_parts[row] for row in rows],
            "key": [key_parts[column] for column in columns],
            "value": values.ravel().astype(float),
            "strength": np.abs(values).ravel().astype(float),
        }
    )
    largest = max(float(np.abs(values).max()), TINY)
    opacity = alt.FillOpacity(
        "strength:Q", scale=alt.Scale(domain=[0, largest], range=[0, 1]), legend=None
    )
    labels = {"labelLimit": 150, "labelOverlap": False}
    x = alt.X(
        "key:N", sort=list(key_parts), title="key", axis=axes.bare_axis(labelAngle=-60, **labels)
    )
    y = alt.Y("query:N", sort=list(query_parts), title="query", axis=axes.bare_axis(**labels))
    color = alt.condition("datum.value < 0", alt.value(axes.OLIVE), alt.value(axes.PURPLE))
    squares = alt.Chart(table, height={"step": 24}).mark_rect(
        stroke=axes.GREY, strokeOpacity=0.2, strokeWidth=1, aria=False
    )
    tooltip = forms.tips("query", "key", value=("part of the score", "+.4f"))
    return squares.encode(x, y, opacity, color=color, tooltip=tooltip)


def part_phrase(part: str, token: str) -> str:
    """Describe a part of a query or key in a sentence; `token` is quoted already."""
    if part in ("token", "position", "biases"):
        preposition = {"token": "", "position": "of ", "biases": "at "}[part]
        return f"the {part} {preposition}{token}"
    network = " network" if part.endswith("feed-forward") else ""
    article = "the " if network or part.endswith(("heads", "networks")) else ""
    return f"what {article}{part}{network} wrote at {token}"
