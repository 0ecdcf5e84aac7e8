"""Heads: every layer and head of one kind at a glance, one of them large."""

from __future__ import annotations

import streamlit as st

from transformer import Kind
from transformer.attention import MultiHeadAttention, attention_scores
from transformer.trace import Labels
from viz import sentence_bar
from viz.components import attention_map, head_grid
from viz.components.labels import shown
from viz.head_picker import HEAD, choose, pick
from viz.look import KIND_NAMES, code_line, explain, minus
from viz.numbers import Array, summarise

KIND = "kind"
"""Name in the URL."""

_WHAT: dict[Kind, str] = {
    "encoder_self": "each English piece (row) looks at all English pieces (columns)",
    "decoder_self": (
        "each position of the decoder (row, named by the piece that it reads) looks at itself "
        "and the positions before it; what comes later is masked"
    ),
    "cross": "each German piece being written (row) looks at the English pieces (columns)",
}


def show() -> None:
    """Draw the page for the sentence in the bar."""
    if (trace := sentence_bar.trace()) is None:
        return
    layers, heads = trace.cross.shape[:2]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.segmented_control(
            "Attention",
            list(KIND_NAMES),
            default="cross",
            required=True,
            key=KIND,
            bind="query-params",
        )
        layer, head = pick(HEAD, layers, heads, layer=layers - 1, head=0)
    assert head is not None  # this page offers no mean
    name = name or "cross"  # the control has no empty state, but its type has
    kind = KIND_NAMES[name]
    weights, labels = trace.weights(kind), trace.labels(kind)
    grid, picture, beside = st.columns([4, 6, 3], gap="medium")
    with grid:
        chosen = head_grid(weights, labels, kind, selected=(layer, head), key="grid")
    if chosen != (layer, head):
        choose(HEAD, *chosen)
    with picture:
        attention_map(
            weights[layer, head],
            labels,
            kind,
            title=f"L{layer + 1} H{head + 1} · {name}",
            reads=trace.decoder_tokens if kind == "cross" else None,
            key="heads-map",
        )
    with beside:
        _numbers(weights[layer, head], labels, kind)
        explain(
            f"{name.capitalize()} attention: {_WHAT[kind]}. One small map for each of the "
            f"{layers} × {heads} heads, all on one scale from 0 to 1. A row is "
            f"$\\mathrm{{softmax}}(QK^\\top/\\sqrt{{d_k}})$ of equation 1 in one of the heads of "
            f"§3.2.2: {code_line(attention_scores)}, {code_line(MultiHeadAttention.attend)}."
        )


def _numbers(weights: Array, labels: Labels, kind: Kind) -> None:
    """What the selected head amounts to on this sentence."""
    st.subheader("This head", anchor=False)
    numbers = summarise(weights, causal=kind == "decoder_self")
    st.metric(
        "Entropy",
        f"{numbers.entropy:.2f} bit",
        help="Mean over the rows: 0 where each looks at one piece alone, "
        f"{numbers.most_entropy:.2f} where each looks at all pieces that it sees alike.",
    )
    with st.container(key="largest", gap=None):
        st.metric("Largest weight", f"{numbers.largest:.2f}")
        query, key = shown(labels.queries)[numbers.query], shown(labels.keys)[numbers.key]
        st.text(f"{query} looks at {key}")
    if kind != "cross":
        st.metric(
            "Offset",
            f"{minus(numbers.offset, 1, sign=True)} ± {numbers.spread:.1f}",
            help="How far from itself a position looks, in pieces: mean and standard deviation "
            "over all weights; below 0 is back, above 0 is ahead.",
        )
