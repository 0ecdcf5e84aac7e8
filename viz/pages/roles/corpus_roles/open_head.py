"""The open head: its card, its examples, a table of its measures, and similar heads."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from transformer import AttentionTrace, InputError, Kind, Translator
from transformer.analysis.axes import LabelledWeights, by_pieces
from transformer.analysis.corpus.corpus_roles import MEASURES
from transformer.analysis.corpus.head_report import Example, HeadFigures, HeadReport
from transformer.analysis.corpus.similar_heads import nearest_by_attention, nearest_by_measures
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.importance import IMPORTANCE
from viz.app.cache.cached_results import identity
from viz.app.cache.memory import memo, memo_per_trace
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.head_picker import head_buttons, in_link
from viz.app.chrome.problems import say
from viz.app.links import navigation
from viz.app.sentence import search_request
from viz.draw.formatting import per_cent
from viz.draw.labels import display_tokens, head_name, head_title
from viz.draw.palette import COLOR
from viz.pages.roles.corpus_roles.map import sentence_roles
from viz.pages.roles.corpus_roles.text import (
    ROLE_TEXTS,
    importance_text,
    interval_verdict,
    role_text,
    with_interval,
)
from viz.pages.roles.removal.controls import open_removal


def draw_card(report: HeadReport, figures: HeadFigures, trace: AttentionTrace) -> None:
    """Draw the card of a head that was measured on a corpus."""
    _title(figures.place, figures.role)
    st.text(f"{role_text(figures)} {interval_verdict(figures, report.sentences)}")
    st.text(importance_text(report, figures))
    st.text(sentence_role_text(trace, figures.place))
    _links(figures.place)


def draw_sentence_card(trace: AttentionTrace, head: Head) -> None:
    """Draw the card of a head for which only the sentence in the bar was measured."""
    _title(head, sentence_roles(trace, head.kind)[head].role)
    st.text(sentence_role_text(trace, head))
    _links(head)


def sentence_role_text(trace: AttentionTrace, head: Head) -> str:
    """Describe the role of a head on the sentence in the bar."""
    result = sentence_roles(trace, head.kind)[head]
    unit = "of the largest possible entropy" if result.nearest == "spread" else "beyond chance"
    score = f"{per_cent(result.score)} {unit}"
    if not result.role:
        return (
            f"On the sentence in the bar nothing dominates: nearest is “{result.nearest}”, {score}."
        )
    action = ROLE_TEXTS[result.role]
    return f"On the sentence in the bar it {action[:1].lower()}{action[1:]} ({score})."


def _title(head: Head, role: str) -> None:
    st.subheader(f"{head_title(*head)} · {role or 'no one role'}", anchor=False)


def _links(head: Head) -> None:
    """Draw links to the same head on other pages and in another view."""
    with st.container(
        key="measured-links", horizontal=True, vertical_alignment="center", gap="small"
    ):
        parameters = in_link(*head)
        navigation.link("heads", "its map on the sentence in the bar", parameters)
        navigation.link("inside", "how it comes to its weights", parameters)
        st.button("Take it away", key="measured-take-away", on_click=open_removal, args=(head,))


_SIDE = 170  # CSS pixels of a small map


def draw_examples(translator: Translator, figures: HeadFigures) -> None:
    """Draw the examples of a head, or nothing where its report has none."""
    if not figures.examples:
        return
    title = "it does this most" if figures.role else "it is most confident, having no one role"
    st.subheader(f"Where {title}", anchor=False)
    for number, (column, example) in enumerate(
        zip(st.columns(len(figures.examples), gap="small"), figures.examples, strict=True)
    ):
        with column:
            _example(translator, figures, example, number)


def _example(translator: Translator, figures: HeadFigures, example: Example, number: int) -> None:
    kind, layer, head = figures.place
    try:
        key = ("example of a head", identity(translator), example.source, example.target)
        trace = memo(key, lambda: translator.trace(example.source, target=example.target))
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


def small_map(axes: LabelledWeights, kind: Kind, layer: int, head: int) -> alt.Chart:
    """Draw the weights of one head as a small map: rows are queries, columns are keys."""
    weights = axes.weights[layer, head]
    queries, keys = (display_tokens(tokens) for tokens in axes.labels)
    rows, columns = (index.ravel() for index in np.indices(weights.shape))
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


def measures_table(figures: HeadFigures) -> None:
    """Draw the table of measures."""
    st.subheader("Every measure", anchor=False)
    # a cell of st.dataframe would not wrap
    st.table(table(figures), border="horizontal", hide_index=True)


def table(figures: HeadFigures) -> pd.DataFrame:
    """Build the table: a row for each measure of the head."""
    descriptions = MEASURES | IMPORTANCE
    return pd.DataFrame(
        [
            (name, with_interval(name, figure), descriptions.get(name, ""))
            for name, figure in figures.measures.items()
        ],
        columns=["measure", "mean (95 %)", "what it is"],
    )


SHOWN = 5


def draw_similar_heads(report: HeadReport | None, trace: AttentionTrace, head: Head) -> None:
    """Draw buttons that open the nearest heads, by the report, if any, and by the trace."""
    st.subheader("Heads like this one", anchor=False)
    if report is not None:
        by_measures = nearest_by_measures(report, head, SHOWN)
        _buttons("By what was measured on the corpus", "measures", by_measures)
    by_attention = memo_per_trace(
        trace, ("heads like", head), lambda: nearest_by_attention(trace, head, SHOWN)
    )
    _buttons("By where they look on the sentence in the bar", "attention", by_attention)


def _buttons(title: str, name: str, heads: Sequence[tuple[Head, float]]) -> None:
    if not heads:
        st.caption(f"{title}: there is no other head.")
        return
    st.caption(f"{title}, with the distance")
    head_buttons(f"similar-{name}", [(head, f"{distance:.2f}") for head, distance in heads])
