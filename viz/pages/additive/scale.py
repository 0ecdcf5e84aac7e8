"""Why dot products are divided by √d_k, and what a misprint of it does to the sentence."""

from functools import cache
from typing import get_args

import streamlit as st

from transformer.analysis.axes import by_pieces
from transformer.arrays import Floats
from transformer.paper import additive, scaling
from transformer.paper.arithmetic import sublayer_values
from transformer.paper.scaling import Scale
from viz.app.cache import memory
from viz.app.chrome import charts, explanations, fields
from viz.app.sentence import python_code, rescaled, sentence_bar
from viz.app.sentence.rescaled import WIDTHS, shown_scale
from viz.draw.formatting import format_number
from viz.figures.scaling import FACTORS, gradient_chart
from viz.figures.weights import weight_maps
from viz.pages.additive.functions import PICTURE, pick_values


def without() -> None:
    """Draw the variance of dot products and the gradient of the softmax over the width."""
    if (bar := sentence_bar.traced()) is None:
        return
    with fields.controls_row("additive-controls"):
        place, values = pick_values(bar)
    left, right = st.columns(2, gap="large")
    with left, st.container(key=PICTURE):
        rescaled.show_variance(bar.trace, values, place, None)
    with right:
        st.subheader("Saturated: no gradient", anchor=False)
        gradients = _gradients()
        charts.altair_chart(
            gradient_chart(WIDTHS, gradients),
            alt="Gradient of the softmax over the width, with scale, without, and additive.",
        )
    small, large = (
        ", ".join(f"{name} {format_number(float(gradients[name][at]))}" for name in gradients)
        for at in (2, -1)
    )
    st.text(f"Gradient at width {WIDTHS[2]}: {small}; at {WIDTHS[-1]:,}: {large}.")
    explanations.explain(
        "The product of two independent numbers of mean 0 and variance 1 has variance 1, so a dot "
        "product of d_k of them has variance d_k, and dividing by √d_k brings it back to 1. The "
        "paper says that both functions do alike for small d_k, and that additive attention does "
        "better for large d_k without the scale. The right chart has the reason: undivided, the "
        "softmax gives one key all the weight, and its gradient, from which training learns, goes "
        "to 0; in additive attention tanh stays between −1 and 1. Its components are drawn from "
        "N(0, 1), for 16 keys and 32 queries; nothing is trained there."
        + explanations.sources("§3.2.1 and its footnote", additive.gradients_over_width)
    )
    python_code.show_code(f"""
        values = sublayer_values(translator.model, trace, {place.kind!r}, {place.layer})
        q, k = values.q[{place.head}].astype(float), values.k[{place.head}].astype(float)
        # Wider q and k: larger scores
        result = scaling.dot_variance(q, k)
        # Saturated: no gradient
        result = additive.gradients_over_width(2 ** np.arange({len(WIDTHS)}))
    """)


@cache
def _gradients() -> dict[str, Floats]:
    return additive.gradients_over_width(WIDTHS)


def misprint() -> None:
    """Draw what another scale in every head does to the weights and the translation."""
    if (bar := sentence_bar.traced()) is None:
        return
    scales: tuple[Scale, ...] = get_args(Scale)
    with fields.controls_row("additive-controls"):
        scale = fields.menu(
            "Scale", scales, "scale_of", index=2, format_func=shown_scale, width=190
        )
        place, values = pick_values(bar)
    edits = scaling.rescaled(bar.translator.model.config, scale)
    edited = memory.memo_per_trace(
        bar.trace,
        ("attended", place.kind, place.layer, (scale, 1.0, None)),
        lambda: sublayer_values(bar.translator.model, bar.trace, place.kind, place.layer, edits),
    )
    name = f"{shown_scale(scale)} in every head"
    rescaled.show_translation(bar.translator, bar.translation, edits, name)
    row = int(values.weights[place.head].max(-1).argmin())  # the most even row has most to lose
    left, right = st.columns([3, 2], gap="large")
    with left, st.container(key=PICTURE):
        maps = {"as in the paper": values.weights, name: edited.weights}
        heads = {title: weights[place.head] for title, weights in maps.items()}
        charts.plotly_chart(
            weight_maps(heads, *by_pieces(bar.trace, place.kind).labels),
            key="misprint-maps",
            alt="The weights of one head with the paper's scale and with another.",
        )
    with right:
        rescaled.show_saturation(values, place, row, {})
    explanations.explain(
        "Equation 1 is softmax(QKᵀ / √d_k) V. Notes on the paper also print QKᵀ√d_k, which makes "
        "the scores d_k times as large: each row gives nearly all of its weight to one key. The "
        f"chart is of the row with the most even weights, number {row + 1}."
        + explanations.sources("equation 1", scaling.rescaled)
    )
    head, at = f"{place.kind!r}, {place.layer}", place.head
    python_code.show_code(f"""
        edits = scaling.rescaled(translator.model.config, {scale!r})
        # Weights
        result = sublayer_values(translator.model, trace, {head}, edits).weights[{at}]
        # Large scores: one token takes all
        values = sublayer_values(translator.model, trace, {head})
        dots = (values.k[{at}] @ values.q[{at}, {row}])[values.seen[{row}]].astype(float)
        result = scaling.saturation(dots, np.geomspace(0.01, 100, {FACTORS}))
        # Translation
        with translator.model.hooks(edits):
            translation = translator.translate(trace.source{python_code.search_code()})
        result = translation.text, translation.log_prob
    """)
