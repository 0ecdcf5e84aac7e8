"""The page “Additive or dot-product”: both attention functions of §3.2.1, and the scale."""

import math
from typing import get_args

import numpy as np
import streamlit as st

from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.paper import additive, scaling
from transformer.paper.additive import ADDITIVE, DOT
from transformer.paper.arithmetic import SublayerValues, sublayer_values
from transformer.paper.scaling import Scale
from viz.app import edited_translation, measurements
from viz.app.chrome import charts, explanations, fields, head_picker
from viz.app.sentence import worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Page, compute, controls, part, view
from viz.draw.formatting import format_number
from viz.draw.labels import shown_scale
from viz.figures.scaling import DECADES, FACTORS, gradient_chart, saturation_chart, variance_chart
from viz.figures.weights import weight_maps

PICTURE = "additive-picture"  # key of the picture of each view
WIDTHS = tuple(2**n for n in range(11))


def _pick_head(bar: BarTranslation) -> tuple[Head, SublayerValues]:
    """Draw the menus of a head; return it with the values of its layer."""
    with controls():
        first = worth_seeing.default_choices("inside", bar.translator, bar.trace)
        place = head_picker.pick_head(bar.translator, first)
    model = bar.translator.model
    values = compute("values", sublayer_values, model, bar.trace, place.kind, place.layer)
    return place, values


@view("Your sentence", needs="trace")
def functions(bar: BarTranslation) -> None:
    """Draw the weights of one head by three functions, then time and memory of both."""
    place, values = _pick_head(bar)
    with controls():
        seed = fields.menu("Seed", range(10), "additive_seed", width=104)
    q, k = part("q", values.q, place.head), part("k", values.k, place.head)
    d_k = q.shape[-1]
    weights = {"dot-product,<br>this head": values.weights[place.head].astype(np.float64)}
    for name, scores in (
        ("dot_product", additive.dot_product_scores),
        ("additive", additive.additive_scores),
    ):
        title = f"{name.replace('_', '-')},<br>random"
        weights[title] = compute(name, additive.random_weights, scores, q, k, values.seen, seed)
    # each formula over its maps, of which the first has two
    left, right = st.columns([2, 1])
    left.latex(r"e_{ij} = q_i \cdot k_j \, / \sqrt{d_k}")
    right.latex(r"e_{ij} = v^\top \tanh(W_q\,q_i + W_k\,k_j)")
    maps = {
        f"{title}<br>largest {format_number(float(rows.max(-1).mean()))}": rows
        for title, rows in weights.items()
    }
    with st.container(key=PICTURE):
        charts.plotly_chart(
            weight_maps(maps, *by_pieces(bar.trace, place.kind).labels),
            key="additive-maps",
            alt="The weights of one head by three functions: queries down, keys across.",
        )
    st.text("Above each map: the largest weight of a row, on average over the rows.")
    if (measurement := measurements.read_or_say_missing("additive", "d_k")) is not None:
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


@view("Scale", needs="trace")
def scale_of_scores(bar: BarTranslation) -> None:
    """Draw what another scale does to the sentence, and why the paper divides."""
    place, values = _pick_head(bar)
    model, scales = bar.translator.model, get_args(Scale)
    with controls():
        scale: Scale = fields.menu(
            "Scale", scales, "scale_of", index=2, format_func=shown_scale, width=190
        )
    edits = compute("edits", scaling.rescale_scores, model, scale)
    edited = compute("edited", sublayer_values, model, bar.trace, place.kind, place.layer, edits)
    name = f"{shown_scale(scale)} in every head"
    edited_translation.show(bar, edits, name)
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
    q, k = part("q", values.q, place.head), part("k", values.k, place.head)
    with right:
        st.subheader("Large scores: one token takes all", anchor=False)
        dots = compute("dots", scaling.dot_products, q, k, query, values.seen)
        low, high = (10.0**power for power in DECADES)
        factors = compute("factors", np.geomspace, low, high, FACTORS)
        curves = compute("curves", scaling.saturation, dots, factors)
        entropy = curves.entropy / (math.log2(len(dots)) or 1.0)  # one key alone has none
        marks = {shown_scale(other): scaling.factor(other, q.shape[-1]) for other in scales}
        charts.altair_chart(
            saturation_chart(factors, (curves.largest, entropy, curves.gradient), marks),
            alt="Largest weight, entropy and gradient of this row over the scale of q · k.",
        )
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Wider q and k: larger scores", anchor=False)
        measured = compute("variance", scaling.dot_variance, q, k)
        variances = compute("gaussian", scaling.gaussian_dot_variance, WIDTHS)
        gradients = compute("gradients", additive.gradients_over_width, WIDTHS)
        charts.altair_chart(
            variance_chart(measured, np.array(WIDTHS), variances),
            alt="Variance of q · k over the width of queries and keys.",
        )
    with right:
        st.subheader("Saturated: no gradient", anchor=False)
        charts.altair_chart(
            gradient_chart(np.array(WIDTHS), gradients),
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
            "equation 1, §3.2.1 and its footnote",
            scaling.rescale_scores,
            additive.gradients_over_width,
        )
    )


PAGE = Page(
    "additive",
    "Which of two attention functions, and why divide by √dₖ?",
    ("head", "weight"),
    (functions, scale_of_scores),
    menu="additive_view",
    row="additive-controls",
)
