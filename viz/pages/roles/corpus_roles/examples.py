"""The sentences on which a head does most what its role says, each with its small map."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from transformer import AttentionTrace, InputError, Kind, Translator
from transformer.analysis.axes import LabelledWeights, by_pieces
from transformer.analysis.corpus.head_report import Example, HeadFigures
from viz.app import search_request
from viz.app.cached_results import identity
from viz.app.charts import altair_chart
from viz.app.memory import memo
from viz.app.problems import say
from viz.draw.formatting import per_cent
from viz.draw.labels import display_tokens, head_name
from viz.draw.palette import COLOR

_SIDE = 170  # CSS pixels of a small map


def examples(translator: Translator, figures: HeadFigures) -> None:
    """Draw the examples of a head, or nothing where its report has none."""
    if not figures.examples:
        return
    most = "it does this most" if figures.role else "it is most confident, having no one role"
    st.subheader(f"Where {most}", anchor=False)
    for number, (column, example) in enumerate(
        zip(st.columns(len(figures.examples), gap="small"), figures.examples, strict=True)
    ):
        with column:
            _example(translator, figures, example, number)


def _example(translator: Translator, figures: HeadFigures, example: Example, number: int) -> None:
    kind, layer, head = figures.place
    try:
        trace = _trace(translator, example)
    except InputError as error:
        say(error)
        return
    altair_chart(
        small_map(by_pieces(trace, kind), kind, layer, head),
        key=f"measured-example-{number}",
        alt=f"Where {head_name(layer, head)} looks in an example sentence.",
    )
    st.text(example.source)
    st.caption(f"{figures.role or 'confidence'} {per_cent(example.score)}")
    st.button(
        "Put into the bar",
        key=f"measured-show-{number}",
        on_click=search_request.put_text,
        args=(example.source,),
    )


def _trace(translator: Translator, example: Example) -> AttentionTrace:
    key = ("example of a head", identity(translator), example.source, example.target)
    return memo(key, lambda: translator.trace(example.source, target=example.target))


def small_map(axes: LabelledWeights, kind: Kind, layer: int, head: int) -> alt.Chart:
    """One head small: rows look, columns are looked at, the words on hover."""
    weights = axes.weights[layer, head]
    queries, keys = (display_tokens(tokens) for tokens in axes.labels)
    rows, columns = (at.ravel() for at in np.indices(weights.shape))
    table = pd.DataFrame(
        {
            "row": rows,
            "column": columns,
            "looks": [queries[row] for row in rows],
            "at": [keys[column] for column in columns],
            "weight": weights.ravel().astype(float),
        }
    )
    plain = alt.Axis(labels=False, ticks=False, domain=False, grid=False, title=None)
    scale = alt.Scale(padding=0)
    return (
        alt.Chart(table, height=_SIDE)
        .mark_rect(color=COLOR[kind], aria=False)
        .encode(
            alt.X("column:O", axis=plain, scale=scale),
            alt.Y("row:O", axis=plain, scale=scale),
            opacity=alt.Opacity(
                "weight:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None
            ),
            tooltip=[
                alt.Tooltip("looks:N", title="row of"),
                alt.Tooltip("at:N", title="looks at"),
                alt.Tooltip("weight:Q", format=".3f"),
            ],
        )
    )
