"""The view “Norms”: the model's layer norm beside batch norm, on the same batch."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer.analysis.paper.norms import (
    Floats,
    Marks,
    NormValues,
    batch_norm,
    deviations,
    layer_norm,
    norm_values,
)
from transformer.analysis.teacher_forcing import batch_traces
from transformer.layers import AddAndNorm
from viz.app.cache.cached_results import trace_identity
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome import charts, explanations, fields, head_picker, mounts
from viz.app.sentence import further_sentences, python_code, sentence_bar
from viz.draw.architecture import encode_strip
from viz.draw.formatting import counted
from viz.draw.labels import display_tokens
from viz.figures.axes import OCHRE, VIOLET, named_color
from viz.pages.architecture.boxes import BOXES, Box


def short(box: Box) -> str:
    """Return the heading without its title, such as `after self-attention of the encoder`."""
    return box.heading.removeprefix(f"{box.title} ")


LAYER = "arch_layer"
"""Name in the URL of the layer. It differs from that of the pages of heads, to which links lead:
Streamlit drops a parameter from a link if a widget of the current page is bound to it."""
NORM = "arch_norm"
"""Name in the URL of the norm."""
ROUNDING = 1e-4
"""Largest change of a normalised value that counts as rounding of float32."""
NAMES = {short(box): box for box in BOXES if box.name.endswith("_norm")}


def show(row: DeltaGenerator) -> None:
    """Draw the view, its controls into the given row."""
    if (bar := sentence_bar.current()) is None:
        sentence_bar.say_no_translation()
        return
    model = bar.translator.model
    with row:
        norm = NAMES[fields.menu("Norm", list(NAMES), NORM, width=300)]
        stack = model.config if norm.stack == "encoder" else model.config.decoder
        layer_index = head_picker.pick_layer(LAYER, stack.N)
        label = "Padding counts in the batch norm"
        padding = st.toggle(label, key="arch_padding", bind="query-params")
    name = norm.module.format(layer_index)
    traces = further_sentences.traces()
    if not traces:
        return
    batch = batch_traces(traces)
    identities = tuple(map(trace_identity, traces))

    def values(count: int) -> NormValues:
        key, first = ("norm", identities[:count], name), traces[:count]
        return memo_per_trace(traces[0], key, lambda: norm_values(model, batch_traces(first), name))

    alone, batched = values(1), values(len(traces))
    rows = batch.source_tokens if name.startswith("encoder") else batch.decoder_tokens
    tokens = [token for row in rows for token in row]
    counts = np.ones_like(batched.real) if padding else batched.real
    layer, by_batch = layer_norm(batched.x, batched.eps), batch_norm(batched.x, counts, batched.eps)
    _strips(batched, layer, by_batch, tokens, sentence_bar.batch_caption(traces, f"{name}."))
    by_token, by_feature, changes = st.columns(3, gap="medium")
    _spreads((by_token, by_feature), layer, by_batch, counts, tokens)
    with changes:
        _joining(alone, batched, len(traces) - 1)
        computed = layer * batched.gain + batched.bias
        difference = np.abs(computed - batched.normalised).max()
        st.text(
            "Layer norm, with the model's gain and bias, equals the model's own values: the "
            f"largest difference is {difference:.1g}, the rounding of float32."
        )
    explanations.explain(
        "Layer norm takes mean and variance over the features of each token, batch norm over all "
        "tokens of the batch for each feature. With batch norm, a translation would depend on the "
        "sentences beside it and on padding. Both are drawn without gain and bias. The paper uses "
        "layer norm." + explanations.sources("§3.1", AddAndNorm.forward)
    )
    python_code.show_code(
        python_code.batch_code(traces),
        f"""
        values = norms.norm_values(translator.model, batch, {name!r})
        counts = {"np.ones_like(values.real)" if padding else "values.real"}
        by_layer = norms.layer_norm(values.x, values.eps)
        by_batch = norms.batch_norm(values.x, counts, values.eps)
        # Before
        result = values.x
        # Layer norm: row by row
        result = by_layer
        # Batch norm: column by column
        result = by_batch
        # Standard deviation
        result = [norms.deviations(x, counts) for x in (by_layer, by_batch)]
        # When others join the first sentence
        alone = norms.norm_values(translator.model, batch_traces(traces[:1]), {name!r})
        by_layer_alone = norms.layer_norm(alone.x, alone.eps)
        by_batch_alone = norms.batch_norm(alone.x, alone.real, alone.eps)
        pairs = (by_layer, by_layer_alone), (by_batch, by_batch_alone)
        result = [np.abs(x[:1, : alone.x.shape[1]] - y).max() for x, y in pairs]
        # Layer norm, with the model's gain and bias
        result = np.abs(by_layer * values.gain + values.bias - values.normalised).max()
        """,
    )


def _strips(
    batched: NormValues, layer: Floats, by_batch: Floats, tokens: list[str], caption: list[str]
) -> None:
    width = batched.x.shape[-1]
    parts = (
        ("before", "Before", batched.x),
        ("layer", "Layer norm: row by row", layer),
        ("batch", "Batch norm: column by column", by_batch),
    )
    for column, (key, title, values) in zip(st.columns(3, gap="medium"), parts, strict=True):
        with column:
            st.subheader(title, anchor=False)
            rows = values.reshape(-1, width).astype(np.float32)
            strip = encode_strip(rows, tokens, title=title, caption=[f"{title}.", *caption])
            mounts.mount(f"arch-norm-{key}", strip)


def _spreads(
    columns: tuple[DeltaGenerator, DeltaGenerator],
    layer: Floats,
    by_batch: Floats,
    counts: Marks,
    tokens: list[str],
) -> None:
    """Draw the standard deviations of tokens and of features, in the two columns."""
    counted_tokens = [
        token for token, count in zip(display_tokens(tokens), counts.ravel(), strict=True) if count
    ]
    features = [str(n + 1) for n in range(layer.shape[-1])]
    spreads = {"layer norm": deviations(layer, counts), "batch norm": deviations(by_batch, counts)}
    maximum = max(float(values.max()) for pair in spreads.values() for values in pair)
    for n, (column, axis, names) in enumerate(
        zip(columns, ("token", "feature"), (counted_tokens, features), strict=True)
    ):
        own = {name: pair[n] for name, pair in spreads.items()}
        with column:
            charts.altair_chart(
                spread_chart(own, names, axis, maximum),
                alt=f"Standard deviation of each {axis} after layer norm and after batch norm.",
            )


def _joining(alone: NormValues, batched: NormValues, others: int) -> None:
    """Draw the change of the first sentence's values when others join its batch."""
    st.subheader("When others join the first sentence", anchor=False)
    if not others:
        st.text("Add a further sentence to see what it changes.")
        return
    length = alone.x.shape[1]
    real_tokens = np.ones(alone.real.shape, dtype=bool)
    by_layer, by_batch = layer_norm(alone.x, alone.eps), batch_norm(alone.x, real_tokens, alone.eps)

    def change(before: Floats, after: Floats) -> str:
        largest = np.abs(after[:1, :length] - before).max()
        return "0 up to rounding" if largest < ROUNDING else f"{largest:.2g}"

    layer = change(by_layer, layer_norm(batched.x, batched.eps))
    unpadded = change(by_batch, batch_norm(batched.x, batched.real, batched.eps))
    padded = change(by_batch, batch_norm(batched.x, np.ones_like(batched.real), batched.eps))
    joined = "a further sentence" if others == 1 else f"{others} further sentences"
    with st.container(key="arch-joining"):
        table = (
            "| largest change of a value | layer norm | batch norm |\n|---|---:|---:|\n"
            f"| {joined} | {layer} | {unpadded} |"
        )
        if pads := int((~batched.real).sum()):
            counts = "counts" if pads == 1 else "count"
            table += f"\n| and {counted(pads, 'pad')} that {counts} | {layer} | {padded} |"
        st.markdown(table)


NORM_COLORS = {"layer norm": VIOLET, "batch norm": OCHRE}
"""Colours that differ from those of the kinds of attention."""

CHART_HEIGHT = 340  # CSS pixels


def spread_chart(
    spreads: Mapping[str, Floats], names: Sequence[str], axis: str, maximum: float
) -> alt.Chart:
    """Draw the standard deviations of all tokens, or of all features, after each norm.

    `spreads` are `[token]` or `[feature]` by the name of the norm. Two adjacent charts share
    `maximum`, the end of the vertical axis.
    """
    columns = {"index": np.arange(1, len(names) + 1), "name": names}
    frame = pd.concat(
        pd.DataFrame({"norm": norm, **columns, "spread": spread})
        for norm, spread in spreads.items()
    )
    x_axis = alt.Axis(grid=False, tickMinStep=1, format="d")
    y = alt.Y(
        "spread:Q",
        title=f"standard deviation of a {axis}",
        scale=alt.Scale(domain=[0, maximum * 1.05]),
        axis=alt.Axis(tickCount=5),
    )
    tooltip = [
        alt.Tooltip("norm:N"),
        alt.Tooltip("name:N", title=axis),
        alt.Tooltip("spread:Q", format=".4f"),
    ]
    points = alt.Chart(frame, height=CHART_HEIGHT).mark_point(filled=True, size=26, opacity=0.85)
    x = alt.X("index:Q", title=axis, axis=x_axis)
    return points.encode(x, y, named_color("norm", NORM_COLORS), tooltip=tooltip)
