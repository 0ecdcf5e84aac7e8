"""Charts of erased words, and of uniform or permuted weights, on one sentence and on a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from transformer import Kind
from transformer.analysis.corpus.stored import Figure
from transformer.kinds import KIND_TITLES
from viz.draw.palette import COLOR
from viz.figures.axes import legend_below, word_axis
from viz.figures.colors import CURVE_COLORS, GREY

Floats = npt.NDArray[np.floating]

RANDOM = "random words"

_HEIGHT, _LEGEND = 240, 60  # CSS pixels with the axes, and of the legend below them
_LEGEND_BELOW = legend_below(columns=alt.ExprRef("width < 400 ? 2 : 4"))  # all names fit on a phone


def erasing_chart(
    lenses: Mapping[str, Sequence[Figure]],
    random: Sequence[Figure],
    fractions: Sequence[float],
    upper: float,
    *,
    legend: bool,
) -> alt.LayerChart:
    """Draw the fall of log P over the share of words: a line for each lens, random words in grey.

    Args:
        lenses: a figure for each fraction, by the name of the lens.
        random: a figure for each fraction, drawn with its interval.
        fractions: shares of the source words.
        upper: upper end of the vertical axis.
        legend: whether the lenses are named below.
    """
    names = [*lenses, RANDOM]
    rows = [
        (name, fraction, *figure)
        for name, curve in {**lenses, RANDOM: random}.items()
        for fraction, figure in zip(fractions, curve, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["lens", "fraction", "value", "low", "high"])
    # a figure of one sentence has no interval
    table["interval"] = [
        "" if low == high else f"{low:.2f} to {high:.2f}"
        for low, high in zip(table["low"], table["high"], strict=True)
    ]
    x = alt.X(
        "fraction:Q",
        title="share of the words",
        axis=alt.Axis(format="%", values=list(fractions), grid=False),
        scale=alt.Scale(nice=False, zero=False, padding=8),
    )
    y = alt.Y(
        "value:Q",
        title="nats",
        scale=alt.Scale(domain=[min(0.0, float(table[["value", "low"]].min().min())), upper]),
        axis=alt.Axis(tickCount=5),
    )
    scale = alt.Scale(domain=names, range=[*_colors(len(lenses)), GREY])
    tooltip = [
        alt.Tooltip("lens:N"),
        alt.Tooltip("fraction:Q", format=".0%", title="share"),
        alt.Tooltip("value:Q", format=".2f", title="log P falls by"),
        alt.Tooltip("interval:N", title="95 %"),
    ]
    base = alt.Chart(table, height=_HEIGHT + (_LEGEND if legend else 0))
    band = (
        base.transform_filter(alt.datum.lens == RANDOM)
        .mark_area(color=GREY, opacity=0.25)
        .encode(x, alt.Y("low:Q"), alt.Y2("high:Q"))
    )
    lines = base.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=45, filled=True)).encode(
        x,
        y,
        alt.Color("lens:N", scale=scale, legend=_LEGEND_BELOW if legend else None),
        strokeDash=alt.condition(alt.datum.lens == RANDOM, alt.value([5, 4]), alt.value([1, 0])),
        tooltip=tooltip,
    )
    return band + lines


def upper_end(*curves: Sequence[Figure]) -> float:
    """Return the upper end of an axis for some curves, which is above 0."""
    upper = max(max(figure.high, figure.value) for curve in curves for figure in curve)
    return max(upper, 0.0) * 1.05 or 1.0


def changes_chart(words: Sequence[str], changes: Floats, kind: Kind) -> alt.Chart:
    """Draw the change of log P of each written word.

    Args:
        words: `[word]`.
        changes: `[word]`, in nats.
        kind: kind of the replaced weights, which gives the colour.
    """
    table = pd.DataFrame({"place": range(len(words)), "word": words, "change": changes})
    return (
        alt.Chart(table, height=_HEIGHT)
        .mark_bar(color=COLOR[kind])
        .encode(
            word_axis(words),
            alt.Y("change:Q", title="nats"),
            tooltip=["word:N", alt.Tooltip("change:Q", format="+.3f", title="changes by")],
        )
    )


def kinds_chart(changes: Mapping[Kind, Figure]) -> alt.LayerChart:
    """Draw the change of log P of a written piece by kind, with its interval."""
    rows = [(KIND_TITLES[kind], *figure) for kind, figure in changes.items()]
    table = pd.DataFrame(rows, columns=["kind", "value", "low", "high"])
    names = [KIND_TITLES[kind] for kind in changes]
    scale = alt.Scale(domain=names, range=[COLOR[kind] for kind in changes])
    color = alt.Color("kind:N", scale=scale, legend=None)
    y = alt.Y("kind:N", sort=names, title=None, axis=alt.Axis(labelLimit=200, grid=False))
    tooltip = [
        alt.Tooltip("kind:N"),
        alt.Tooltip("value:Q", format="+.3f", title="log P changes by"),
        alt.Tooltip("low:Q", format="+.3f", title="95 % from"),
        alt.Tooltip("high:Q", format="+.3f", title="to"),
    ]
    base = alt.Chart(table, height=56 + 44 * len(names)).encode(y, color, tooltip=tooltip)
    x = alt.Scale(zero=True)
    rules = base.mark_rule(strokeWidth=3).encode(
        alt.X("low:Q", scale=x, title="log P of a piece changes by"), alt.X2("high:Q")
    )
    return rules + base.mark_point(filled=True, size=90, opacity=1).encode(alt.X("value:Q"))


def _colors(count: int) -> list[str]:
    """Return colours for the lenses, without the slate that resembles the grey of random words."""
    colors = [color for color in CURVE_COLORS if color != CURVE_COLORS[3]]
    return colors[:count]
