"""Charts of the sentence's positions: the first layer's input, and the effect of edits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import altair as alt
import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from transformer.text.languages import Languages
from viz.draw.labels import capitalised, display_tokens
from viz.figures.axes import curve_color, word_axis
from viz.figures.colors import CURVE_COLORS, GREY
from viz.figures.signed_maps import axis_place, axis_title, maps, signed_map

Floats = NDArray[np.floating]

_ROW, _LEAST = 22, 12  # CSS pixels of a token, and of the smallest readable label
_TALLEST = 900
_ALL_LABELS = 40  # pieces up to which each has a label on the axis


def input_figure(tokens: Sequence[str], parts: Mapping[str, Floats], maximum: float) -> go.Figure:
    """Draw the parts of a stack's first input side by side: tokens down, dimensions across.

    Args:
        tokens: `[position]`, pieces.
        parts: arrays `[position, d_model]`, by their titles.
        maximum: value of the full colour; larger ones are clipped.
    """
    names = [
        f"{position}: {escape(token)}" for position, token in enumerate(display_tokens(tokens))
    ]
    hover = "position %{y}<br>dimension %{x}<br>%{z:.4f}"
    height = min(110 + _ROW * len(tokens), _TALLEST)
    # a long sentence has a label for every few rows; the tooltip has all of them
    interval = -(-len(tokens) * _LEAST // (height - 110))
    labelled = list(range(0, len(tokens), interval))
    places = [axis_place(n, len(tokens)) for n in labelled]
    width = next(iter(parts.values())).shape[1]
    texts = [escape(display_tokens(tokens)[n]) for n in labelled]
    return maps(
        {
            title: signed_map(values, maximum, hover=hover, y=names)
            for title, values in parts.items()
        },
        across={"title": axis_title("dimension", width), "nticks": 4},
        down={"tickmode": "array", "tickvals": places, "ticktext": texts},
        height=height,
    )


def moved_chart(steps: Sequence[int], curves: Mapping[str, Floats], marked: int) -> alt.LayerChart:
    """Draw log P of a translation over the shift of its positions.

    Args:
        steps: `[step]`, shifts k, from 0.
        curves: `[step]`, log P in nats, by the shifted stacks.
        marked: the marked shift.
    """
    table = pd.concat(
        pd.DataFrame({"moved": name, "k": list(steps), "log_p": values})
        for name, values in curves.items()
    )
    colour = curve_color("moved", list(curves), labelLimit=320, columns=2)
    x = alt.X(
        "k:Q",
        title="positions shifted by k",
        # logarithmic from 1 on, with a place for 0
        scale=alt.Scale(type="symlog", constant=1, nice=False, domain=[0, max(steps)]),
        axis=alt.Axis(
            values=[0, *(4**n for n in range(8))],
            grid=False,
            labelExpr="format(datum.value, ',')",
        ),
    )
    y = alt.Y("log_p:Q", title="log p of the translation", scale=alt.Scale(zero=True))
    tooltip = ["moved:N", alt.Tooltip("k:Q", format=","), alt.Tooltip("log_p:Q", format=".2f")]
    lines = (
        alt.Chart(table, height=360 + 28 * -(-len(curves) // 2))
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=40, filled=True))
        .encode(x, y, colour, tooltip=tooltip)
    )
    rule = alt.Chart(pd.DataFrame({"k": [marked]})).mark_rule(color=GREY, strokeDash=[4, 3])
    return rule.encode(x) + lines


def pieces_chart(
    pieces: Sequence[str], curves: Mapping[str, Floats], languages: Languages
) -> alt.Chart:
    """Draw log p of each piece of one translation, under each edit of the positions.

    Args:
        pieces: `[piece]`, written pieces.
        curves: `[piece]`, log p in nats, by the name of the edit; the first is the unedited model.
        languages: languages of the model.
    """
    table = pd.concat(
        pd.DataFrame(
            {
                "positions": name,
                "place": range(len(pieces)),
                "piece": display_tokens(pieces),
                "log_p": values,
            }
        )
        for name, values in curves.items()
    )
    return (
        alt.Chart(table, height=360 + 28 * -(-len(curves) // 2))
        .mark_line(strokeWidth=1.5, point=alt.OverlayMarkDef(size=40, filled=True))
        .encode(
            x=word_axis(
                display_tokens(pieces),
                title=f"{capitalised(languages.name('target'))}: the piece being written",
                labelLimit=180,
                labelOverlap=len(pieces) > _ALL_LABELS,
            ),
            y=alt.Y("log_p:Q", title="log p of the piece", scale=alt.Scale(zero=True)),
            color=curve_color(
                "positions",
                list(curves),
                (GREY, *CURVE_COLORS[:3], *CURVE_COLORS[4:]),
                labelLimit=320,
                columns=2,
            ),
            tooltip=["positions:N", "piece:N", alt.Tooltip("log_p:Q", format=".3f")],
        )
    )
