"""The view “Learned” of the Positions page: learned positions beside sinusoids (Table 3, row E)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from transformer.analysis.paper.positions import (
    TABLE,
    LearnedPositions,
    cosines,
    learned_positions,
)
from transformer.embedding import Embedding, sinusoidal_positions
from viz.app.cache.memory import memo, state_of_file
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import code_line, explain
from viz.app.model_variations import ROWS, TABLE_3, TrainedRow, read
from viz.figures.axes import curve_color
from viz.figures.colors import GREY
from viz.figures.signed_maps import axis_title, maps, signed_map
from viz.pages.positions.sentence import pick_stack

PAPER = {"sinusoidal": TABLE_3[0], "learned": next(row for row in TABLE_3 if row.learned)}
"""Rows of the paper by the names of the small models trained here with the same change."""


def learned() -> None:
    """Draw the similarity of the rows of a learned table, and where it was never trained."""
    stack = pick_stack()
    table = getattr(_tables(ROWS / "learned"), stack)
    length, d_model = table.shape
    maps = {
        "sinusoidal": cosines(sinusoidal_positions(length, d_model).numpy()),
        f"learned, {stack}": cosines(table),
    }
    picture, explanation = st.columns([2, 1], gap="large")
    with picture:
        st.plotly_chart(
            cosine_maps(maps), key="pe_learned", alt="How alike each two positions of a table are."
        )
        altair_chart(
            neighbours_chart(
                {name: np.diagonal(values, 1) for name, values in maps.items()}, d_model**-0.5
            ),
            key="pe_neighbours",
            alt="How alike each position and the next are.",
        )
    with explanation:
        _results()
        explain(
            "A model with learned positions (Table 3, row E) adds a row of a table instead of the "
            f"waves: {code_line(Embedding.__init__)}. Only the rows at which sentences stood in "
            "training have learnt something; the later ones are still the random numbers that they "
            "began as, two of which are no more alike than chance has it (grey band, "
            "± 2/√d_model). The waves go on beyond the longest training sentence, which is one of "
            "the paper's reasons for them (§3.5); what a model makes of them there, Beyond shows."
        )


def _results() -> None:
    rows = {name: read(ROWS / name) for name in PAPER}
    for name, paper in PAPER.items():
        row = rows[name]
        if isinstance(row, TrainedRow):
            st.metric(
                f"{name} · BLEU and perplexity, validation",
                f"{row.bleu:.1f} · {row.perplexity:.2f}",
                help=f"after {row.steps:,} steps; the paper's own, far larger model: "
                f"{paper.bleu} and {paper.perplexity} on newstest2013 (Table 3)",
                width="content",
            )
        else:
            st.text(row)
    trained = [row for row in rows.values() if isinstance(row, TrainedRow)]
    if len(trained) == len(PAPER):
        st.text(_explain_difference(*trained))


def _explain_difference(waves: TrainedRow, table: TrainedRow) -> str:
    paper_waves, paper_table = PAPER.values()
    steps = f"{waves.steps:,} steps"
    if table.steps != waves.steps:
        steps = f"{waves.steps:,} and {table.steps:,} steps"
    return (
        f"In the paper both kinds are as good: BLEU {paper_waves.bleu} with sinusoids and "
        f"{paper_table.bleu} with learned positions (Table 3, rows base and E), after "
        f"{paper_waves.steps},000 steps. These two small models had {steps}: the "
        f"{abs(table.bleu - waves.bleu):.1f} BLEU between them tell which has learnt faster so "
        f"far, not which would be better in the end."
    )


def _tables(folder: Path) -> LearnedPositions:
    key = "learned positions", folder, state_of_file(folder / TABLE)  # another training rewrites it
    return memo(key, lambda: learned_positions(folder))


Floats = NDArray[np.floating]


def cosine_maps(cosines: Mapping[str, Floats]) -> go.Figure:
    """Draw the cosines of all pairs of positions of each table, side by side, from -1 to 1.

    Args:
        cosines: `[position, position]`, by the name of the table.
    """
    title = axis_title("position", max(map(len, cosines.values())))
    hover = "positions %{y} and %{x}<br>cosine %{z:.3f}"
    return maps(
        {name: signed_map(values, 1, hover=hover) for name, values in cosines.items()},
        across={"title": title},
        down={"title": title},
        height=440,
    )


def neighbours_chart(cosines: Mapping[str, Floats], chance: float) -> alt.LayerChart:
    """Draw the cosine of each position with the next one, and the range of random rows.

    Args:
        cosines: `[position]`, of the row with the next one, by the name of the table.
        chance: standard deviation of the cosine of two random rows; a band of two is drawn.
    """
    names = list(cosines)
    table = pd.concat(
        pd.DataFrame({"table": name, "position": range(len(values)), "cosine": values})
        for name, values in cosines.items()
    )
    x = alt.X("position:Q", axis=alt.Axis(grid=False, tickMinStep=1, tickCount=6))
    y = alt.Y("cosine:Q", title="cosine, p and p + 1")
    lines = (
        alt.Chart(table, height=250)
        .mark_line(strokeWidth=1.5)
        .encode(
            x,
            y,
            curve_color("table", names, columns=len(names)),
            tooltip=["table:N", "position:Q", alt.Tooltip("cosine:Q", format=".3f")],
        )
    )
    band = (
        alt.Chart(pd.DataFrame({"low": [-2 * chance], "high": [2 * chance]}))
        .mark_rect(color=GREY, opacity=0.25)
        .encode(y=alt.Y("low:Q", title="cosine, p and p + 1"), y2="high:Q")
    )
    return band + lines
