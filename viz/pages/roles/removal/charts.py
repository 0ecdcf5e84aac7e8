"""Charts of removed heads: log P of each word, and BLEU over a corpus."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from transformer import AttentionTrace
from transformer.analysis.axes import by_words, first_pieces
from transformer.analysis.corpus.head_report import Curve
from viz.figures.axes import word_axis
from viz.figures.colors import GREY, VIOLET

Floats = npt.NDArray[np.floating]

BEFORE, AFTER = "before", "with heads taken away"

_HEIGHT = 240  # CSS pixels, without legend and words


def word_log_probs(trace: AttentionTrace, log_probs: Floats) -> tuple[tuple[str, ...], Floats]:
    """Compute log P of each word of a translation, the sum over its pieces.

    Args:
        trace: of the translation.
        log_probs: `[target]`, of its pieces.
    """
    first = first_pieces(trace.target_pieces)
    return by_words(trace, "cross").labels.queries, np.add.reduceat(log_probs, first)


def words_chart(words: Sequence[str], before: Floats, after: Floats) -> alt.LayerChart:
    """Draw log P of each word of the translation, before and after.

    Args:
        words: `[word]`.
        before: `[word]`, in nats.
        after: `[word]`.
    """
    places = range(len(words))
    wide = pd.DataFrame({"place": places, "word": words, "before": before, "after": after})
    wide["change"] = wide["after"] - wide["before"]
    table = wide.melt(["place", "word", "change"], ["before", "after"], "model", "log_p")
    table["model"] = table["model"].map({"before": BEFORE, "after": AFTER})
    x = word_axis(words)
    y = alt.Y("log_p:Q", title="log p of the word", scale=alt.Scale(zero=True))
    tooltip = [
        "word:N",
        "model:N",
        alt.Tooltip("log_p:Q", title="log p", format=".3f"),
        alt.Tooltip("change:Q", title="changed by", format="+.3f"),
    ]
    legend = alt.Legend(title=None, orient="top", labelLimit=300)
    scale = alt.Scale(domain=[BEFORE, AFTER], range=[GREY, VIOLET])
    shapes = alt.Scale(domain=[BEFORE, AFTER], range=["circle", "diamond"])
    rules = (
        alt.Chart(wide)
        .mark_rule(color=GREY, strokeWidth=1.5)
        .encode(x, alt.Y("before:Q"), alt.Y2("after:Q"))
    )
    points = (
        alt.Chart(table, height=_HEIGHT)
        .mark_point(filled=True, opacity=1)
        .encode(
            x,
            y,
            alt.Color("model:N", scale=scale, legend=legend),
            alt.Shape("model:N", scale=shapes, legend=legend),
            # where the two are equal, both are seen
            alt.Size(
                "model:N",
                scale=alt.Scale(domain=[BEFORE, AFTER], range=[120, 50]),
                legend=legend,
            ),
            tooltip=tooltip,
        )
    )
    return rules + points


def curve_chart(curve: Curve, at: int | None) -> alt.LayerChart:
    """BLEU with more and more heads taken away, its interval as a band.

    Args:
        curve: as it was measured, at some numbers of heads.
        at: how many are away on the page; None where those are not the first of this order.
    """
    table = pd.DataFrame(
        [(p.removed, *p.bleu) for p in curve.points], columns=["removed", "value", "low", "high"]
    )
    x = alt.X(
        "removed:Q",
        title="heads that are away",
        scale=alt.Scale(domain=[0, len(curve.order)], nice=False),
        axis=alt.Axis(grid=False, tickMinStep=1),
    )
    y = alt.Y("value:Q", title="BLEU", scale=alt.Scale(zero=True))
    tooltip = [
        alt.Tooltip("removed:Q", title="heads away"),
        alt.Tooltip("value:Q", title="BLEU", format=".2f"),
        alt.Tooltip("low:Q", title="95 % from", format=".2f"),
        alt.Tooltip("high:Q", title="to", format=".2f"),
    ]
    base = alt.Chart(table, height=_HEIGHT)
    band = base.mark_area(color=VIOLET, opacity=0.2).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"))
    line = base.mark_line(
        color=VIOLET, strokeWidth=2, point=alt.OverlayMarkDef(size=40, filled=True, color=VIOLET)
    ).encode(x, y, tooltip=tooltip)
    if at is None:
        return band + line
    here = alt.Chart(pd.DataFrame({"removed": [at]}))
    return band + line + here.mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=2).encode(x)
