"""Charts of the summands of a logit, and of the share of the source in each written word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from transformer import AttentionTrace
from transformer.analysis.axes import first_pieces
from transformer.analysis.logits.direct_logits import DecoderKind, DirectLogits
from viz.draw.formatting import format_number
from viz.figures.axes import word_axis
from viz.figures.colors import GREY, INK, OCHRE, OLIVE, PURPLE, VIOLET

Floats = npt.NDArray[np.floating]

SOURCE, START, BEFORE = "source", "<s>", "written before"

_SUBLAYERS: dict[DecoderKind, str] = {
    "decoder_self": "self-attention",
    "cross": "cross-attention",
}
_ROW = 24  # CSS pixels


class Part(NamedTuple):
    """Summand of a logit."""

    name: str
    value: float


def logit_parts(logits: DirectLogits, step: int) -> list[Part]:
    """List the summands of the logit at one step, in the order in which the decoder adds them."""
    parts = [
        Part("token", float(logits.tokens[step])),
        Part("position", float(logits.positions[step])),
    ]
    for layer in range(len(logits.feed_forward)):
        for kind, heads in logits.heads.items():
            name = f"L{layer + 1} {_SUBLAYERS[kind]}"
            parts.append(Part(name, float(heads[layer, :, step].sum())))
        parts.append(Part(f"L{layer + 1} feed-forward", float(logits.feed_forward[layer, step])))
    return [*parts, Part("biases", float(logits.biases[step]))]


def sum_chart(parts: Sequence[Part], total: float) -> alt.LayerChart:
    """Draw each summand from where the one before it ended, and the total below.

    Args:
        parts: the summands, in this order.
        total: their sum.
    """
    values = [part.value for part in parts]
    ends = np.cumsum(values)
    rows = pd.DataFrame(
        {
            "part": [*(part.name for part in parts), "= logit"],
            "start": [*(ends - values), 0.0],
            "end": [*ends, total],
            "value": [*values, total],
            "figure": [format_number(value, sign=True) for value in values]
            + [format_number(total)],
            "sign": ["for" if value >= 0 else "against" for value in values] + ["sum"],
        }
    )
    rows["right"] = rows[["start", "end"]].max(axis=1)
    y = alt.Y(
        "part:N",
        sort=list(rows["part"]),
        title=None,
        axis=alt.Axis(ticks=False, domain=False, grid=False, labelLimit=140),
    )
    low = min(0.0, float(rows[["start", "end"]].min().min()))
    high = max(0.0, float(rows["right"].max()))
    x = alt.X(
        "start:Q",
        title="logit, added up from above",
        # space for the number after the longest bar
        scale=alt.Scale(domain=[low, high + 0.16 * (high - low or 1.0)], nice=False),
    )
    base = alt.Chart(rows, height={"step": _ROW})
    colour = alt.Color(
        "sign:N",
        scale=alt.Scale(domain=["for", "against", "sum"], range=[PURPLE, OLIVE, GREY]),
        legend=None,
    )
    tooltip = ["part:N", alt.Tooltip("value:Q", title="adds", format="+.4f")]
    bars = base.mark_bar(height=_ROW - 9).encode(x, y, colour, x2="end:Q", tooltip=tooltip)
    figures = base.mark_text(align="left", dx=5, color=INK).encode(
        alt.X("right:Q"), y, text="figure:N"
    )
    zero = alt.Chart(pd.DataFrame({"start": [0]})).mark_rule(color=GREY).encode(x=x)
    return zero + bars + figures


def word_shares(
    trace: AttentionTrace, shares: Floats
) -> tuple[npt.NDArray[np.int64], dict[str, Floats]]:
    """Compute the first piece of each word and its shares, the mean over its pieces.

    Args:
        trace: trace of the translation.
        shares: `[target, source + target]`, as `alti.whole_model` computes them.

    Returns:
        `[word]`, and `[word]` by source, start token and earlier words.
    """
    first = np.array(first_pieces(trace.target_pieces))
    count = np.diff([*first, len(trace.target_pieces)])
    source = len(trace.source_pieces)
    parts = {
        SOURCE: shares[:, :source].sum(1),
        START: shares[:, source],
        BEFORE: shares[:, source + 1 :].sum(1),
    }
    return first, {name: np.add.reduceat(part, first) / count for name, part in parts.items()}


def shares_chart(words: Sequence[str], shares: dict[str, Floats], chosen: int) -> alt.Chart:
    """Draw the shares of each written word as stacked bars that sum to 1.

    Args:
        words: `[word]`.
        shares: `[word]` for each of `SOURCE`, `START`, `BEFORE`.
        chosen: index of the word of the chosen step.
    """
    names = list(shares)
    frame = pd.concat(
        pd.DataFrame(
            {
                "place": range(len(words)),
                "word": list(words),
                "from": name,
                "share": values,
                "order": number,
            }
        )
        for number, (name, values) in enumerate(shares.items())
    )
    x = word_axis(
        words,
        labelFontWeight={
            "condition": {"test": f"datum.value == {chosen}", "value": "bold"},
            "value": "normal",
        },
    )
    colour = alt.Color(
        "from:N",
        scale=alt.Scale(domain=names, range=[VIOLET, GREY, OCHRE]),
        legend=alt.Legend(title=None, orient="top", labelLimit=300),
    )
    y = alt.Y("share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    return (
        alt.Chart(frame, height=240)
        .mark_bar()
        .encode(
            x,
            y,
            colour,
            order="order:O",
            tooltip=["word:N", "from:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )
