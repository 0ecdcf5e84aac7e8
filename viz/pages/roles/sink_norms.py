"""Below “Layer by layer”: the attention that tokens receive, and how large their vectors are."""

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from transformer import KINDS, AttentionTrace, Kind, Translator
from transformer.circuits.key_norms import KeyNorms, key_norms
from viz.app.chrome import charts
from viz.app.chrome.explanations import as_markdown, function_name
from viz.app.view import compute
from viz.draw.formatting import format_number, per_cent
from viz.draw.labels import SCREEN_NAMES, display_tokens, quoted
from viz.draw.palette import COLOR
from viz.figures import axes, forms
from viz.pages.roles.head_charts import kind_title

MAX_DOTS = 1_000
"""Dots of a chart; of a longer sentence, the tokens that receive most are drawn."""
SINK, OTHER = "sink", "other token"


def show(translator: Translator, trace: AttentionTrace) -> None:
    """Draw each kind's tokens, layer by layer, and say how large its sinks are."""
    st.subheader("Are the sinks large?", anchor=False)
    for kind, column in zip(KINDS, st.columns(len(KINDS), gap="medium"), strict=True):
        norms = compute(f"norms_{kind}", key_norms, translator.model, trace, kind)
        table = norms_table(norms)
        drawn = table.nlargest(MAX_DOTS, "received").sort_index()
        text = norms_text(norms)
        if len(table) > len(drawn):
            text += f" Drawn: the {len(drawn):,} of {len(table):,} dots furthest right."
        with column:
            st.html(kind_title(kind, SCREEN_NAMES[kind]))
            charts.altair_chart(
                norms_chart(drawn, kind),
                key=f"layers-norms-{kind}",
                alt="Length of each token's vector in each layer against the attention it gets.",
            )
            st.caption(as_markdown(text))
    text = (
        "A dot is a token in a layer. Across: the share of the layer's attention that it receives, "
        "mean over heads and rows. Up: the length ‖x‖ of the vector that its keys and values are "
        "made of: the embedding in L1, and in cross-attention the encoder's output in every layer. "
        "Sinks are special tokens and punctuation. In models with the norm before each sub-layer, "
        "sinks have the largest ‖x‖ (Sun et al. 2024); here a norm ends each sub-layer. This is "
        "one sentence, and ‖x‖ hides single large components."
    )
    st.caption(f"{text} {function_name(key_norms)}")


def norms_table(norms: KeyNorms) -> pd.DataFrame:
    """Return a row for each layer and key."""
    layer, key = (axis.ravel() for axis in np.indices(norms.norms.shape))
    columns = {
        "token": np.array(display_tokens(norms.tokens))[key],
        "layer": [f"L{n + 1}" for n in layer],
        "is": np.where(norms.sinks, SINK, OTHER)[key],
        "received": norms.received.ravel(),
        "norm": norms.norms.ravel().astype(float),
    }
    return pd.DataFrame(columns)


def norms_chart(table: pd.DataFrame, kind: Kind) -> alt.Chart:
    """Draw ‖x‖ against the attention received, sinks in the colour of their kind."""
    chart: alt.Chart = forms.points(
        table,
        alt.X("received:Q", title="attention received", axis=alt.Axis(format="%", tickCount=4)),
        alt.Y("norm:Q", title="‖x‖", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4)),
        axes.named_color("is", {SINK: COLOR[kind], OTHER: axes.GREY}),
        size=45,
        tooltip=forms.tips("token", "layer", received=("receives", ".1%"), norm=("‖x‖", ".2f")),
    )
    return chart.properties(height=300)


def norms_text(norms: KeyNorms) -> str:
    """Say what the sinks receive and how large they are, and the same of the largest vector."""
    sinks, largest = norms.sinks, np.unravel_index(norms.norms.argmax(), norms.norms.shape)
    layer, key = map(int, largest)
    text = "Every token is a sink." if sinks.all() else "No token is a sink."
    if sinks.any() and not sinks.all():
        share = per_cent(float(norms.received[:, sinks].sum(1).mean()))
        ratio = float(norms.norms[:, sinks].mean() / norms.norms[:, ~sinks].mean())
        text = f"Sinks receive {share}; their ‖x‖ is {format_number(ratio)} times that of the rest."
    return (
        f"{text} The largest ‖x‖, {format_number(float(norms.norms[largest]), 1)}, is that of "
        f"{quoted(display_tokens(norms.tokens)[key])} in L{layer + 1}, which receives "
        f"{per_cent(float(norms.received[largest]))}."
    )
