"""Norms: layer norm as the model has it, batch norm as it would be, on the same batch."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer.analysis.batch import TraceBatch, batch_traces
from transformer.analysis.paper.norms import (
    Floats,
    Marks,
    NormValues,
    batch_norm,
    deviations,
    layer_norm,
    norm_values,
)
from transformer.layers import AddAndNorm
from viz.app.cache.cached_results import trace_identity
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import code_line, explain
from viz.app.chrome.head_picker import pick_layer
from viz.app.chrome.mounts import mount
from viz.app.sentence import further_sentences, sentence_bar
from viz.app.sentence.origin import batch_caption
from viz.draw.formatting import counted
from viz.draw.labels import display_tokens
from viz.draw.tensor_strip import encode_strip
from viz.pages.architecture.boxes import BOXES, Box
from viz.pages.architecture.norms_chart import spread_chart


def short(box: Box) -> str:
    """What a norm is called where only norms are: `after self-attention of the encoder`."""
    return box.heading.removeprefix(f"{box.title} ")


LAYER = "arch_layer"
"""Name in the URL of the layer. Not that of the pages of heads, to which links lead from here:
Streamlit drops from a link what a widget of the page that is left is bound to."""
NORM = "arch_norm"
"""Name in the URL of the norm that is looked at."""
ROUNDING = 1e-4
"""A smaller change of a normalised value, whose spread is 1, is the rounding of float32."""
NAMES = {short(box): box for box in BOXES if box.name.endswith("_norm")}


def show(row: DeltaGenerator) -> None:
    """Draw the view; its controls go into the row that is given."""
    if (bar := sentence_bar.current()) is None:
        sentence_bar.say_no_translation()
        return
    model = bar.translator.model
    with row:
        name, padding = _controls(model.config.N)
    traces = further_sentences.traces()
    if not traces:
        return
    every = batch_traces(traces)
    identities = tuple(map(trace_identity, traces))
    inside = memo_per_trace(
        traces[0], ("norm", identities, name), lambda: norm_values(model, every, name)
    )
    alone = memo_per_trace(
        traces[0],
        ("norm", identities[:1], name),
        lambda: norm_values(model, batch_traces(traces[:1]), name),
    )
    counts = np.ones_like(inside.real) if padding else inside.real
    layer, by_batch = layer_norm(inside.x, inside.eps), batch_norm(inside.x, counts, inside.eps)
    _strips(inside, layer, by_batch, _tokens(every, name), batch_caption(traces, f"{name}."))
    by_token, by_feature, beside = st.columns(3, gap="medium")
    _spreads((by_token, by_feature), layer, by_batch, counts, _tokens(every, name))
    with beside:
        _joining(alone, inside, len(traces) - 1)
        _check(inside, layer)
    explain(
        "The same sum before one Add & norm, normalised twice, both without gain and bias. Layer "
        "norm takes mean and variance over the features of each token by itself, so a token's "
        "result is its own. Batch norm takes them over all tokens of the batch for each feature by "
        "itself: then a translation would depend on what else was translated beside it, and on "
        "padding. The paper has layer norm (§3.1), "
        rf"$\mathrm{{LayerNorm}}(x + \mathrm{{Sublayer}}(x))$: {code_line(AddAndNorm.forward)}."
    )


def _controls(layers: int) -> tuple[str, bool]:
    """The name of the module, and whether padding counts in the batch norm."""
    layer = pick_layer(LAYER, layers)
    chosen = st.selectbox("Norm", list(NAMES), key=NORM, bind="query-params", width=300)
    padding = st.toggle("Padding counts in the batch norm", key="arch_padding", bind="query-params")
    return NAMES[chosen].module.format(layer), padding


def _tokens(every: TraceBatch, name: str) -> list[str]:
    """The tokens of all sentences, one sentence after the other, padding included."""
    rows = every.source_tokens if name.startswith("encoder") else every.decoder_tokens
    return [token for row in rows for token in row]


def _strips(
    inside: NormValues, layer: Floats, by_batch: Floats, tokens: list[str], caption: list[str]
) -> None:
    width = inside.x.shape[-1]
    columns = st.columns(3, gap="medium")
    for column, title, values, key in zip(
        columns,
        ("Before", "Layer norm: each row by itself", "Batch norm: each column by itself"),
        (inside.x, layer, by_batch),
        ("before", "layer", "batch"),
        strict=True,
    ):
        with column:
            st.subheader(title, anchor=False)
            rows = values.reshape(-1, width).astype(np.float32)
            strip = encode_strip(rows, tokens, title=title, caption=[f"{title}.", *caption])
            mount(f"arch-norm-{key}", strip)


def _spreads(
    columns: tuple[DeltaGenerator, DeltaGenerator],
    layer: Floats,
    by_batch: Floats,
    counts: Marks,
    tokens: list[str],
) -> None:
    """How far the tokens and how far the features spread, in the two columns."""
    counted = [
        token for token, count in zip(display_tokens(tokens), counts.ravel(), strict=True) if count
    ]
    features = [str(n + 1) for n in range(layer.shape[-1])]
    spreads = {"layer norm": deviations(layer, counts), "batch norm": deviations(by_batch, counts)}
    most = max(float(values.max()) for pair in spreads.values() for values in pair)
    for n, (column, what, names) in enumerate(
        zip(columns, ("token", "feature"), (counted, features), strict=True)
    ):
        with column:
            altair_chart(
                spread_chart({name: pair[n] for name, pair in spreads.items()}, names, what, most),
                alt=f"Standard deviation of each {what} after layer norm and after batch norm.",
            )


def _joining(alone: NormValues, inside: NormValues, others: int) -> None:
    """By how much the first sentence's values change when others join its batch."""
    st.subheader("When others join the first sentence", anchor=False)
    if not others:
        st.text("There is no further sentence: type one, and see what it changes.")
        return
    length = alone.x.shape[1]
    own = np.ones(alone.real.shape, dtype=bool)
    by_layer, by_batch = layer_norm(alone.x, alone.eps), batch_norm(alone.x, own, alone.eps)

    def change(before: Floats, now: Floats) -> str:
        largest = np.abs(now[:1, :length] - before).max()
        return "0 but for rounding" if largest < ROUNDING else f"{largest:.2g}"

    layer = change(by_layer, layer_norm(inside.x, inside.eps))
    real = change(by_batch, batch_norm(inside.x, inside.real, inside.eps))
    padded = change(by_batch, batch_norm(inside.x, np.ones_like(inside.real), inside.eps))
    joined = "a further sentence" if others == 1 else f"{others} further sentences"
    with st.container(key="arch-joining"):
        table = (
            "| largest change of a value | layer norm | batch norm |\n|---|---:|---:|\n"
            f"| {joined} | {layer} | {real} |"
        )
        if pads := int((~inside.real).sum()):
            counts = "counts" if pads == 1 else "count"
            table += f"\n| and {counted(pads, 'pad')} that {counts} | {layer} | {padded} |"
        st.markdown(table)


def _check(inside: NormValues, layer: Floats) -> None:
    """Layer norm, with the model's own gain and bias, is what the model made."""
    ours = layer * inside.gain + inside.bias
    off = np.abs(ours - inside.normalised).max()
    st.text(
        "With the model's gain and bias, layer norm is what the model itself has here: "
        f"the largest difference is {off:.1g}, the rounding of float32."
    )
