"""The sum that makes a logit, and how much of each written word comes from the source."""

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
    """One summand of a logit."""

    name: str
    value: float


def parts_of(found: DirectLogits, step: int) -> list[Part]:
    """What is added up to the logit at one step, in the order in which the decoder adds it."""
    parts = [
        Part("token", float(found.tokens[step])),
        Part("position", float(found.positions[step])),
    ]
    for layer in range(len(found.feed_forward)):
        for kind, heads in found.heads.items():
            name = f"L{layer + 1} {_SUBLAYERS[kind]}"
            parts.append(Part(name, float(heads[layer, :, step].sum())))
        parts.append(Part(f"L{layer + 1} feed-forward", float(found.feed_forward[layer, step])))
    return [*parts, Part("biases", float(found.biases[step]))]


def sum_chart(parts: Sequence[Part], total: float) -> alt.LayerChart:
    """Each part from where the one before it ended, and the whole below.

    Args:
        parts: in this order.
        total: what they add up to.
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
        # room for the figure behind the longest bar
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


def shares_of_words(
    trace: AttentionTrace, shares: Floats
) -> tuple[npt.NDArray[np.int64], dict[str, Floats]]:
    """Where each word of the translation begins, and its shares, the mean over its pieces.

    Args:
        trace: of the translation.
        shares: `[target, source + target]`, as `alti.whole_model` gives them.

    Returns:
        `[word]`, and `[word]` of the source, of `<s>`, and of all that was written before.
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


def shares_chart(words: Sequence[str], shares: dict[str, Floats], at: int) -> alt.Chart:
    """How much of each written word comes from where, as bars that add up to 1.

    Args:
        words: `[word]`.
        shares: `[word]` of each of `SOURCE`, `START`, `BEFORE`.
        at: the word of the chosen step.
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
            "condition": {"test": f"datum.value == {at}", "value": "bold"},
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
