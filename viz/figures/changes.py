"""Charts of changes over many lines: by line, beside random sets of heads, and head by head."""

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from viz.figures.axes import GREY, INK, OLIVE, PURPLE, VIOLET, named_color

Floats = npt.NDArray[np.float64]

BINS = 40
REMOVED, RANDOM = "these heads", "random heads"
_HEIGHT, _STRIP, _ROW, _AXIS = 250, 140, 24, 60  # CSS pixels, axes and legends included


def _number(name: str, title: str = "", digits: int = 3) -> alt.Tooltip:
    return alt.Tooltip(f"{name}:Q", title=title or name, format=f"+.{digits}f")


def lines_chart(changes: Floats, mean: float) -> alt.LayerChart:
    """Draw how many lines change by how much: changes of log p, `[sentence]`, nats per subword."""
    counts, edges = np.histogram(changes, BINS)
    table = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "lines": counts})
    x = alt.X("low:Q", bin="binned", title="change of log p per subword, in nats")
    y = alt.Y("lines:Q", title="lines", axis=alt.Axis(tickMinStep=1))
    tooltip = [_number("low", "from"), _number("high", "to"), alt.Tooltip("lines:Q")]
    bars = alt.Chart(table[table["lines"] > 0], height=_HEIGHT).mark_bar(color=GREY)
    rule = alt.Chart(pd.DataFrame({"mean": [mean]})).mark_rule(color=VIOLET, strokeWidth=2)
    return bars.encode(x, alt.X2("high:Q"), y, tooltip=tooltip) + rule.encode(
        alt.X("mean:Q"), tooltip=[_number("mean", digits=4)]
    )


def controls_chart(change: tuple[float, float, float], controls: Floats) -> alt.LayerChart:
    """Draw the mean change without some heads beside that without random ones.

    Args:
        change: the mean with its interval, in nats per subword.
        controls: the means without as many random heads, `[control]`.
    """
    own = pd.DataFrame([(*change, REMOVED)], columns=["value", "low", "high", "heads"])
    random = pd.DataFrame({"value": controls, "heads": RANDOM})
    x = alt.X("value:Q", title="mean change, in nats per subword", scale=alt.Scale(zero=True))
    color = named_color("heads", {REMOVED: VIOLET, RANDOM: GREY})
    tooltip = [alt.Tooltip("heads:N"), _number("value", "mean change", 4)]
    ticks = alt.Chart(random, height=_STRIP).mark_tick(thickness=2, size=28)
    bar = alt.Chart(own).mark_rule(strokeWidth=2).encode(alt.X("low:Q"), alt.X2("high:Q"), color)
    point = alt.Chart(own).mark_point(filled=True, size=90, opacity=1)
    return ticks.encode(x, color, tooltip=tooltip) + bar + point.encode(x, color, tooltip=tooltip)


def differences_chart(table: pd.DataFrame, measure: str) -> alt.LayerChart:
    """Draw the difference of a measure between two models, a row for each head, with its interval.

    The table has the columns `head`, `first`, `second`, `difference`, `low` and `high`.
    """
    y = alt.Y("head:N", sort=list(table["head"]), title=None, axis=alt.Axis(labelLimit=200))
    x = alt.X("difference:Q", title=f"{measure}: second minus first", scale=alt.Scale(zero=True))
    color = alt.condition("datum.difference < 0", alt.value(OLIVE), alt.value(PURPLE))
    names = ("first", "second", "difference", "low", "high")
    tooltip = ["head:N", *(_number(name) for name in names)]
    base = alt.Chart(table, height=_ROW * len(table) + _AXIS).encode(y, color=color)
    zero = alt.Chart(pd.DataFrame({"zero": [0]})).mark_rule(color=INK, opacity=0.5)
    bars = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q"), alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=70, opacity=1).encode(x, tooltip=tooltip)
    return zero.encode(alt.X("zero:Q")) + bars + points
