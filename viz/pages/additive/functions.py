"""Additive and dot-product attention on the sentence, and their time and memory over n."""

import numpy as np
import streamlit as st

from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.paper import additive, scaling
from transformer.paper.additive import ADDITIVE, DOT
from transformer.paper.arithmetic import SublayerValues, sublayer_values
from viz.app import measurements
from viz.app.cache import memory
from viz.app.chrome import charts, explanations, fields, head_picker
from viz.app.sentence import python_code, sentence_bar, worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.formatting import format_number
from viz.figures.weights import weight_maps

PICTURE = "additive-picture"  # key of the picture of each view


def pick_values(bar: BarTranslation) -> tuple[Head, SublayerValues]:
    """Draw the menus of a head, and compute what it reads and writes."""
    place = head_picker.pick_head(bar.translator, worth_seeing.default_choices("inside"))
    values = memory.memo_per_trace(
        bar.trace,
        ("attended", place.kind, place.layer, None),
        lambda: sublayer_values(bar.translator.model, bar.trace, place.kind, place.layer),
    )
    return place, values


def sentence() -> None:
    """Draw the weights of one head by three functions."""
    if (bar := sentence_bar.traced()) is None:
        return
    with fields.controls_row("additive-controls"):
        place, values = pick_values(bar)
        seed = fields.whole_number("Seed", "additive_seed", 0, 9_999, 0, width=150)
    q, k = (x[place.head].astype(np.float64) for x in (values.q, values.k))
    d_k, drawn = q.shape[-1], additive.draw_weights(q.shape[-1], seed)
    maps = {"dot-product,<br>this head": values.weights[place.head].astype(np.float64)}
    for name, function in (
        ("dot-product,<br>random", additive.dot_product_scores),
        ("additive,<br>random", additive.additive_scores),
    ):
        scores = np.where(values.seen, function(q, k, drawn), -np.inf)
        maps[name] = scaling.softmax(scores)
    left, right = st.columns(2)
    left.latex(r"e_{ij} = q_i \cdot k_j \, / \sqrt{d_k}")
    right.latex(r"e_{ij} = v^\top \tanh(W_q\,q_i + W_k\,k_j)")
    with st.container(key=PICTURE):
        charts.plotly_chart(
            weight_maps(maps, *by_pieces(bar.trace, place.kind).labels),
            key="additive-maps",
            alt="The weights of one head by three functions: queries down, keys across.",
        )
    largest = (format_number(float(weights.max(-1).mean())) for weights in maps.values())
    st.text(f"Largest weight of a row, on average: {', '.join(largest)}.")
    explanations.explain(
        "A **compatibility function** scores a query against a key, and the softmax makes weights "
        "of a row of scores. Dot-product attention multiplies and sums; additive attention is a "
        f"feed-forward network with one hidden layer, here {d_k} wide like q and k. The model was "
        "trained with the first. No trained weights of the second exist for it, so W_q, W_k and v "
        "are random, as training would begin; the map in the middle has the dot products of the "
        "same random projections. Compare the last two; neither says which function translates "
        "better. Additive attention comes from recurrent translation (Bahdanau et al. 2015), where "
        "the decoder’s state is the query and the encoder’s states are keys and values, as in the "
        "cross-attention here." + explanations.sources("§3.2.1, §3.2.3", additive.additive_scores)
    )
    python_code.show_code(f"""
        values = sublayer_values(translator.model, trace, {place.kind!r}, {place.layer})
        q, k = values.q[{place.head}].astype(float), values.k[{place.head}].astype(float)
        drawn = additive.draw_weights({d_k}, {seed})
        # Dot-product, random
        scores = additive.dot_product_scores(q, k, drawn)
        result = scaling.softmax(np.where(values.seen, scores, -np.inf))
        # Additive, random
        scores = additive.additive_scores(q, k, drawn)
        result = scaling.softmax(np.where(values.seen, scores, -np.inf))
    """)


def cost() -> None:
    """Draw time and memory of both functions over the length, as measured."""
    if (measurement := measurements.read("additive", "d_k")) is None:
        return
    with st.container(key=PICTURE):
        for column, field in zip(st.columns(2), measurements.FIELDS, strict=True):
            with column:
                measurements.draw(measurement, field, height=400)
    times, sizes = (
        curves[ADDITIVE][1][-1] / curves[DOT][1][-1] for curves in measurement.curves.values()
    )
    st.text(
        f"At n = {measurement.curves['bytes'][DOT][0][-1]:,}, additive attention takes "
        f"{times:,.0f} times the time and {sizes:,.0f} times the memory. One head of width "
        f"{measurement.sizes[0]}, {measurement.about}"
    )
    explanations.explain(
        "In theory both cost O(n² d_k). In practice the dot products of all queries and keys are "
        "one product of matrices, which leaves n² scores. Additive attention has a hidden layer "
        "for each query and key: n² · d_k values of tanh, and training keeps them all."
        + explanations.sources("§3.2.1", additive.additive_scores, additive.dot_product_scores)
    )
    python_code.show_code("""
        rows = loads((ASSETS / "additive.json").read_text("utf-8"))["layers"]
        # Time
        result = {name: [row["seconds"] for row in rows[name]] for name in rows}
        # Memory
        result = {name: [row["bytes"] for row in rows[name]] for name in rows}
    """)
