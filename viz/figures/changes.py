"""Charts over many lines: changes, random sets of heads beside some, head by head, and offsets."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from transformer.arrays import Floats
from viz.figures import axes, forms

BINS = 40
REMOVED, RANDOM = "these heads", "random heads"
SIGNED = "+.3f"


def lines_chart(changes: Floats, mean: float) -> alt.LayerChart:
    """Draw how many lines change by how much: changes of log p, `[sentence]`, nats per subword."""
    counts, edges = np.histogram(changes, BINS)
    table = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "lines": counts})
    x = alt.X("low:Q", bin="binned", title="change of log p per subword, in nats")
    y = alt.Y("lines:Q", title="lines", axis=alt.Axis(tickMinStep=1))
    tooltip = forms.tips(low=("from", SIGNED), high=("to", SIGNED), lines=("", ""))
    bars = alt.Chart(table[table["lines"] > 0], height=250).mark_bar(color=axes.GREY)
    line = forms.rule("mean", mean, color=axes.VIOLET, strokeWidth=2)
    return bars.encode(x, alt.X2("high:Q"), y, tooltip=tooltip) + line.encode(
        tooltip=forms.tips(mean=("mean", "+.4f"))
    )


def controls_chart(change: Sequence[Any], controls: Floats) -> alt.LayerChart:
    """Draw the mean change without some heads, in nats, beside those without random ones."""
    own = pd.DataFrame([(*change, REMOVED)], columns=["value", "low", "high", "heads"])
    random = pd.DataFrame({"value": controls, "heads": RANDOM})
    x = alt.X("value:Q", title="mean change, in nats per subword", scale=alt.Scale(zero=True))
    color = axes.named_color("heads", {REMOVED: axes.VIOLET, RANDOM: axes.GREY})
    tooltip = forms.tips("heads", value=("mean change", "+.4f"))
    ticks = alt.Chart(random, height=140).mark_tick(thickness=2, size=28)
    base = alt.Chart(own).encode(color, tooltip=tooltip)
    interval = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q"), alt.X2("high:Q"))
    mean = base.mark_point(filled=True, size=90, opacity=1).encode(x)
    return ticks.encode(x, color, tooltip=tooltip) + interval + mean


def offset_histogram(counts: npt.NDArray[np.integer], color: str) -> alt.Chart:
    """Draw the share of a head's rows at each offset, key less query, with 0 in the middle."""
    largest, rows = len(counts) // 2, np.flatnonzero(counts)
    shown = np.arange(rows.min(), rows.max() + 1) if rows.size else np.array([largest])
    shares = counts[shown] / max(counts.sum(), 1)
    table = pd.DataFrame({"offset": shown - largest, "rows": counts[shown], "share": shares})
    axis = alt.Axis(grid=False, tickMinStep=1, format="d")
    x = alt.X("left:Q", title="column of the largest weight − row, in subwords", axis=axis)
    y = alt.Y("share:Q", title="rows", axis=alt.Axis(format="%", tickCount=4))
    tooltip = forms.tips(offset=("", "+d"), rows=("", ","), share=("", ".1%"))
    # as wide as the distance of two bars
    bars = alt.Chart(table, height=220).transform_calculate(
        left="datum.offset - 0.45", right="datum.offset + 0.45"
    )
    return bars.mark_bar(color=color).encode(
        x, y, x2=alt.X2("right:Q"), y2=alt.Y2Datum(0), tooltip=tooltip
    )


def words_chart(
    words: Sequence[str], kind: str, log_probs: Mapping[str, npt.ArrayLike], *, height: int
) -> alt.LayerChart:
    """Draw log p of each word, `[word]` in nats, before and after a change, by their names."""
    (before, after), values = log_probs, [np.asarray(x) for x in log_probs.values()]
    columns = {"place": range(len(words)), "word": words, "change": values[1] - values[0]}
    change = {"log_p": ("log probability", ".3f"), "change": ("changed by", "+.3f")}
    return forms.dumbbells(
        pd.DataFrame({**columns, **log_probs}),
        kind,
        {before: axes.GREY, after: axes.VIOLET},
        (120, 50),
        x=axes.word_axis(words),
        y=alt.Y("log_p:Q", title="log probability of the word", scale=alt.Scale(zero=True)),
        height=height,
        tooltip=forms.tips("word", kind, **change),
        labelLimit=300,
    )
