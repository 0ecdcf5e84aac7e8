"""The page “Additive or dot-product”: both attention functions of §3.2.1, and the scale."""

import math
from functools import cache
from typing import get_args

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import HeadlightError
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.arrays import Floats
from transformer.paper import additive, scaling
from transformer.paper.additive import ADDITIVE, DOT
from transformer.paper.arithmetic import SublayerValues, sublayer_values
from transformer.paper.scaling import Scale
from viz.app import measurements
from viz.app.cache import memory
from viz.app.chrome import charts, explanations, fields, head_picker, problems
from viz.app.sentence import edited_translation, python_code, sentence_bar, worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import cached
from viz.draw.formatting import format_number
from viz.draw.labels import shown_scale
from viz.figures.scaling import DECADES, FACTORS, gradient_chart, saturation_chart, variance_chart
from viz.figures.weights import weight_maps

PICTURE = "additive-picture"  # key of the picture of each view
WIDTHS = 2 ** np.arange(11)


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    row = fields.controls_row("additive-controls")
    with row:
        draw = VIEWS[fields.choose_one("View", VIEWS, "additive_view")]
    if (bar := sentence_bar.traced()) is None:
        return
    with row:
        place = head_picker.pick_head(bar.translator, worth_seeing.default_choices("inside"))
    try:
        model, trace = bar.translator.model, bar.trace
        values = cached(sublayer_values, model, trace, place.kind, place.layer)
        draw(bar, place, values, row)
    except HeadlightError as error:
        problems.say(error)


def _functions(
    bar: BarTranslation, place: Head, values: SublayerValues, row: DeltaGenerator
) -> None:
    """Draw the weights of one head by three functions, then time and memory of both."""
    with row:
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
    if (measurement := measurements.read("additive", "d_k")) is not None:
        for column, field in zip(st.columns(2), measurements.FIELDS, strict=True):
            with column:
                measurements.draw(measurement, field)
        times, sizes = (
            curves[ADDITIVE][1][-1] / curves[DOT][1][-1] for curves in measurement.curves.values()
        )
        st.text(
            f"At n = {measurement.curves['bytes'][DOT][0][-1]:,}, additive attention takes "
            f"{times:,.0f} times the time and {sizes:,.0f} times the memory. One head of width "
            f"{measurement.sizes[0]}, {measurement.about}"
        )
    explanations.explain(
        "A **compatibility function** scores a query against a key, and the softmax makes weights "
        "of a row of scores. Dot-product attention multiplies and sums; additive attention is a "
        f"feed-forward network with one hidden layer, here {d_k} wide like q and k. The model was "
        "trained with the first. No trained weights of the second exist for it, so W_q, W_k and v "
        "are random, as training would begin; the map in the middle has the dot products of the "
        "same random projections. Compare the last two; neither says which function translates "
        "better. Additive attention comes from recurrent translation (Bahdanau et al. 2015), where "
        "the decoder’s state is the query and the encoder’s states are keys and values, as in the "
        "cross-attention here.\n\n**Time and memory:** in theory both cost O(n² dₖ). In practice "
        "the dot products of all queries and keys are one product of matrices, which leaves n² "
        "scores. Additive attention has a hidden layer for each query and key: n² · dₖ values of "
        "tanh, and training keeps them all."
        + explanations.sources("§3.2.1, §3.2.3", additive.additive_scores)
    )
    python_code.show_code(f"""
        values = sublayer_values(translator.model, trace, {place.kind!r}, {place.layer})
        q, k = values.q[{place.head}].astype(float), values.k[{place.head}].astype(float)
        drawn = additive.draw_weights({d_k}, {seed})
        rows = loads((ASSETS / "additive.json").read_text("utf-8"))["layers"]
        # Dot-product, random
        scores = additive.dot_product_scores(q, k, drawn)
        result = scaling.softmax(np.where(values.seen, scores, -np.inf))
        # Additive, random
        scores = additive.additive_scores(q, k, drawn)
        result = scaling.softmax(np.where(values.seen, scores, -np.inf))
        # Time
        result = {{name: [row["seconds"] for row in rows[name]] for name in rows}}
        # Memory
        result = {{name: [row["bytes"] for row in rows[name]] for name in rows}}
    """)


def _scale(bar: BarTranslation, place: Head, values: SublayerValues, row: DeltaGenerator) -> None:
    """Draw what another scale does to the sentence, and why the paper divides."""
    translator, scales = bar.translator, get_args(Scale)
    with row:
        scale: Scale = fields.menu(
            "Scale", scales, "scale_of", index=2, format_func=shown_scale, width=190
        )
    edits = scaling.rescaled(translator.model.config, scale)
    edited = memory.memo_per_trace(
        bar.trace,
        ("attended", place.kind, place.layer, (scale, None)),
        lambda: sublayer_values(translator.model, bar.trace, place.kind, place.layer, edits),
    )
    name = f"{shown_scale(scale)} in every head"
    edited_translation.show(translator, bar.translation, edits, name)
    left, right = st.columns([3, 2], gap="large")
    with left, st.container(key=PICTURE):
        maps = {"as in the paper": values.weights, name: edited.weights}
        heads = {title: weights[place.head] for title, weights in maps.items()}
        charts.plotly_chart(
            weight_maps(heads, *by_pieces(bar.trace, place.kind).labels),
            key="misprint-maps",
            alt="The weights of one head with the paper's scale and with another.",
        )
    # the most even row has most to lose
    query = int(values.weights[place.head].max(-1).argmin())
    q, k = (x[place.head].astype(np.float64) for x in (values.q, values.k))
    with right:
        st.subheader("Large scores: one token takes all", anchor=False)
        dots = (k @ q[query])[values.seen[query]]
        at = np.geomspace(10.0 ** DECADES[0], 10.0 ** DECADES[1], FACTORS)
        curves = scaling.saturation(dots, at)
        entropy = curves.entropy / (math.log2(len(dots)) or 1.0)  # one key alone has none
        marks = {shown_scale(other): scaling.factor(other, q.shape[-1]) for other in scales}
        charts.altair_chart(
            saturation_chart(at, (curves.largest, entropy, curves.gradient), marks),
            alt="Largest weight, entropy and gradient of this row over the scale of q · k.",
        )
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Wider q and k: larger scores", anchor=False)
        measured = memory.memo_per_trace(
            bar.trace, ("dot variance", *place), lambda: scaling.dot_variance(q, k)
        )
        variances, gradients = _drawn_from_normal()
        charts.altair_chart(
            variance_chart(measured, WIDTHS, variances),
            alt="Variance of q · k over the width of queries and keys.",
        )
    with right:
        st.subheader("Saturated: no gradient", anchor=False)
        charts.altair_chart(
            gradient_chart(WIDTHS, gradients),
            alt="Gradient of the softmax over the width, with scale, without, and additive.",
        )
    small, large = (
        ", ".join(f"{name} {format_number(float(gradients[name][n]))}" for name in gradients)
        for n in (2, -1)
    )
    st.text(f"Gradient at width {WIDTHS[2]}: {small}; at {WIDTHS[-1]:,}: {large}.")
    explanations.explain(
        "Equation 1 is softmax(QKᵀ / √dₖ) V. Notes on the paper also print QKᵀ√dₖ, which makes the "
        "scores dₖ times as large: each row gives nearly all of its weight to one key. The first "
        f"chart is of the row with the most even weights, number {query + 1}.\n\n"
        "Why divide? The product of two independent numbers of mean 0 and variance 1 has variance "
        "1, so a dot product of dₖ of them has variance dₖ, and dividing by √dₖ brings it back to "
        "1; in a trained head they are not independent. The paper says that both functions do "
        "alike for small dₖ, and that additive attention does better for large dₖ without the "
        "scale. The last chart has the reason: undivided, the softmax gives one key all the "
        "weight, and its gradient, from which training learns, goes to 0; in additive attention "
        "tanh stays between −1 and 1. Its components are drawn from N(0, 1), for 16 keys and 32 "
        "queries; nothing is trained there."
        + explanations.sources(
            "equation 1, §3.2.1 and its footnote", scaling.rescaled, additive.gradients_over_width
        )
    )
    head, at_head = f"{place.kind!r}, {place.layer}", place.head
    python_code.show_code(f"""
        edits = scaling.rescaled(translator.model.config, {scale!r})
        values = sublayer_values(translator.model, trace, {head})
        q, k = values.q[{at_head}].astype(float), values.k[{at_head}].astype(float)
        # Weights
        result = sublayer_values(translator.model, trace, {head}, edits).weights[{at_head}]
        # Large scores: one token takes all
        dots = (k @ q[{query}])[values.seen[{query}]]
        result = scaling.saturation(dots, np.geomspace(0.01, 100, {FACTORS}))
        # Wider q and k: larger scores
        result = scaling.dot_variance(q, k)
        # Saturated: no gradient
        result = additive.gradients_over_width(2 ** np.arange({len(WIDTHS)}))
        # Translation
        with translator.model.hooks(edits):
            translation = translator.translate(trace.source{python_code.search_code()})
        result = translation.text, translation.log_prob
    """)


@cache
def _drawn_from_normal() -> tuple[Floats, dict[str, Floats]]:
    """Compute variances and gradients once: they take 17 million random numbers."""
    return scaling.gaussian_dot_variance(WIDTHS), additive.gradients_over_width(WIDTHS)


VIEWS = {"Your sentence": _functions, "Scale": _scale}
