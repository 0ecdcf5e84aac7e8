"""Charts of the shift right of the decoder's input, and of leaks without a mask (§3.1, §3.2.3).

Tokens are data for Vega, which draws them as text and interprets no tags.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from viz.draw.labels import display_tokens
from viz.draw.mask_grids import PADDING
from viz.figures.colors import GREY, INK

Floats = npt.NDArray[np.float64]

LEAKED = "#9166CC"  # visible on a light and on a dark page
_SIDES: tuple[tuple[str, Literal["left", "right"], int], ...] = (
    ("reads", "right", 14),
    ("writes", "left", -14),
)
WITH, WITHOUT = "with the mask", "without it"

_LINE = 24  # CSS pixels of a token in a list
_FADED = 0.68  # opacity of padding, which is still readable
# a list has no lines, and its first label is aligned with the others
_PLAIN: dict[str, Any] = {
    "domain": False,
    "ticks": False,
    "grid": False,
    "labelFlush": False,
    "labelBound": False,
}
# columns of the shift: tokens read at 0, tokens written at 1, the next sentence from 3
_APART, _MARGIN, _UNIT = 3, 0.9, 88  # the last in CSS pixels


def shift_chart(
    reads: Sequence[Sequence[str]], writes: Sequence[Sequence[str]], titles: Sequence[str]
) -> alt.LayerChart:
    """Draw the tokens that the decoder reads and writes: the same ones, a step apart (§3.1).

    A line joins each written token with the position that reads it.

    Args:
        reads: `[sentence][target]`, `<s>` first, `<pad>` included.
        writes: `[sentence][target]`.
        titles: `[sentence]`, titles of the pairs of columns.
    """
    tokens, lines = _shifted(reads, writes)
    headings = pd.DataFrame({"column": _APART * np.arange(len(titles)) - _MARGIN, "title": titles})
    last = _APART * (len(titles) - 1) + 1 + _MARGIN
    scale = alt.Scale(domain=[-_MARGIN, last], nice=False)
    columns = [_APART * n + side for n in range(len(titles)) for side in (0, 1)]
    x = alt.X("column:Q", title=None, scale=scale, axis=_columns(columns))
    y = alt.Y("position:O", title=None, axis=alt.Axis(labelExpr="datum.value + 1", **_PLAIN))
    texts = [
        alt.Chart(tokens)
        .transform_filter(alt.datum.side == side)
        .mark_text(align=align, dx=dx, fontSize=13, limit=125, color=INK)
        .encode(x, y, text="token:N", opacity=alt.Opacity("opacity:Q", scale=None), tooltip="token")
        for side, align, dx in _SIDES
    ]
    rules = (
        alt.Chart(lines)
        .mark_rule(color=GREY, strokeWidth=1.5, xOffset=-18, x2Offset=18)
        .encode(
            x=alt.X("written:Q"),
            x2="read:Q",
            y=alt.Y("from:O"),
            y2="to:O",
            tooltip=alt.Tooltip("text:N", title="shift right"),
        )
    )
    heading_layer = (
        alt.Chart(headings)
        .mark_text(align="left", fontSize=14, fontWeight=600, color=INK)
        .encode(x=x, y=alt.value(-36), text="title:N")
    )
    width = round(_UNIT * (last + _MARGIN))
    layers = [*texts, rules, heading_layer]
    return alt.LayerChart(layer=layers, width=width, height=alt.Step(_LINE))


def _shifted(
    reads: Sequence[Sequence[str]], writes: Sequence[Sequence[str]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table of the tokens with their places, and one of the lines' ends."""
    tokens, lines = [], []
    for sentence, (read, written) in enumerate(zip(reads, writes, strict=True)):
        # both sides together, so that a piece is marked in the same way on each
        texts = display_tokens([*read, *written])
        left = _APART * sentence
        for position in range(len(read)):
            opacity = _FADED if written[position] == PADDING else 1.0
            tokens.append((left, position, "reads", texts[position], opacity))
            tokens.append((left + 1, position, "writes", texts[len(read) + position], opacity))
            if position and written[position] != PADDING:
                text = f"position {position} writes “{texts[position]}”, "
                text += f"position {position + 1} reads it"
                lines.append((left + 1, position - 1, left, position, text))
    return (
        pd.DataFrame(tokens, columns=["column", "position", "side", "token", "opacity"]),
        pd.DataFrame(lines, columns=["written", "from", "read", "to", "text"]),
    )


def share_chart(to_hidden: Floats, to_padding: Floats) -> alt.LayerChart:
    """Draw the share of each head's attention on keys that the mask would hide.

    Args:
        to_hidden: `[layer, head]`, 0 to 1.
        to_padding: `[layer, head]`, the part of it on padding.
    """
    layer, head = np.indices(to_hidden.shape)
    frame = pd.DataFrame(
        {
            "layer": layer.ravel() + 1,
            "head": head.ravel() + 1,
            "share": to_hidden.ravel(),
            "padding": to_padding.ravel(),
        }
    )
    base = alt.Chart(frame, height=alt.Step(40)).encode(
        x=alt.X("head:O", axis=alt.Axis(labelAngle=0, orient="top", **_PLAIN)),
        y=alt.Y("layer:O", axis=alt.Axis(**_PLAIN)),
        tooltip=[
            alt.Tooltip("layer:O"),
            alt.Tooltip("head:O"),
            alt.Tooltip("share:Q", title="to all that was hidden", format=".4%"),
            alt.Tooltip("padding:Q", title="of it to padding", format=".4%"),
        ],
    )
    # a scale of opacity: pale means little on a light and on a dark page
    squares = base.mark_rect(color=LEAKED, cornerRadius=2).encode(
        opacity=alt.Opacity(
            "share:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, 0.9]), legend=None
        )
    )
    return squares + base.mark_text(fontSize=12, color=INK).encode(
        text=alt.Text("share:Q", format=".0%")
    )


def loss_chart(tokens: Sequence[str], masked: Floats, unmasked: Floats) -> alt.LayerChart:
    """Draw the loss on each next token with the mask and without it.

    Args:
        tokens: `[target]`, written tokens, `<pad>` included, which has no loss.
        masked: `[target]`, -log p with the mask, nats; NaN at padding.
        unmasked: `[target]`, -log p without it.
    """
    names = display_tokens(tokens)
    frame = pd.DataFrame({"position": range(len(names)), WITH: masked, WITHOUT: unmasked})
    frame["token"] = names
    frame["change"] = unmasked - masked
    frame = frame.dropna()
    long = frame.melt(["position", "token", "change"], var_name="mask", value_name="nats")
    y = alt.Y(
        "position:O",
        title="next token",
        axis=alt.Axis(labelExpr=f"{json.dumps(names)}[datum.value]", labelLimit=120, **_PLAIN),
    )
    tooltip = [
        alt.Tooltip("token:N", title="next token"),
        alt.Tooltip("mask:N"),
        alt.Tooltip("nats:Q", format=".4f"),
        alt.Tooltip("change:Q", title="changed by", format="+.4f"),
    ]
    rules = (
        alt.Chart(frame)
        .mark_rule(color=GREY, strokeWidth=1.5)
        .encode(x=alt.X(f"{WITH}:Q"), x2=f"{WITHOUT}:Q", y=y)
    )
    models = [WITH, WITHOUT]
    legend = alt.Legend(title=None, orient="top")
    dots = (
        alt.Chart(long, height=alt.Step(_LINE))
        .mark_point(filled=True, opacity=1)
        .encode(
            x=alt.X("nats:Q", title="nats", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5)),
            y=y,
            color=alt.Color(
                "mask:N", scale=alt.Scale(domain=models, range=[GREY, LEAKED]), legend=legend
            ),
            shape=alt.Shape(
                "mask:N", scale=alt.Scale(domain=models, range=["circle", "diamond"]), legend=legend
            ),
            # sizes differ, so that both are visible where they are equal
            size=alt.Size("mask:N", scale=alt.Scale(domain=models, range=[150, 60]), legend=legend),
            tooltip=tooltip,
        )
    )
    return rules + dots


def _columns(places: Sequence[int]) -> alt.Axis:
    side = f"datum.value % {_APART} == 0 ? 'reads' : 'writes'"
    return alt.Axis(values=list(places), labelExpr=side, orient="top", **_PLAIN)
