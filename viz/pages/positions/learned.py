"""The view of the positions page on row (E): learned positions beside the sinusoids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

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
from viz.pages.positions.learned_charts import cosine_maps, neighbours_chart
from viz.pages.positions.sentence import pick_stack

PAPER = {"sinusoidal": TABLE_3[0], "learned": next(row for row in TABLE_3 if row.learned)}
"""The paper's rows by the names of the small models that were trained here with the same change."""


def learned() -> None:
    """How alike the rows of a learned table are, and where it was never trained."""
    stack = pick_stack()
    table = getattr(_tables(ROWS / "learned"), stack)
    length, d_model = table.shape
    maps = {
        "sinusoidal": cosines(sinusoidal_positions(length, d_model).numpy()),
        f"learned, {stack}": cosines(table),
    }
    picture, beside = st.columns([2, 1], gap="large")
    with picture:
        st.plotly_chart(
            cosine_maps(maps), key="pe_learned", alt="How alike each two positions of a table are."
        )
        altair_chart(
            neighbours_chart(
                {name: np.diagonal(found, 1) for name, found in maps.items()}, d_model**-0.5
            ),
            key="pe_neighbours",
            alt="How alike each position and the next are.",
        )
    with beside:
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
    """What the two small models reached, beside what the paper says of its own."""
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
    ours = [row for row in rows.values() if isinstance(row, TrainedRow)]
    if len(ours) == len(PAPER):
        st.text(_what_it_means(*ours))


def _what_it_means(waves: TrainedRow, table: TrainedRow) -> str:
    """Why the figures here can lie far apart where the paper's are a tie."""
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
    key = "learned positions", folder, state_of_file(folder / TABLE)  # another training writes it
    return memo(key, lambda: learned_positions(folder))
