"""The view “one head instead of h”: each head of a layer has the mean of the layer's patterns."""

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from transformer.analysis.heads import measures
from transformer.analysis.teacher_forcing import log_probs
from transformer.paper import costs, multi_head
from viz.app import edited_translation
from viz.app.chrome import charts, explanations
from viz.app.links import navigation
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import cached, compute, controls, list_result, part, view
from viz.draw.formatting import format_difference, format_number
from viz.draw.labels import SCREEN_NAMES, display_tokens
from viz.draw.palette import COLOR
from viz.figures.changes import words_chart
from viz.figures.figure2 import Panel, drawing
from viz.pages.figure2.matrices import HEIGHT, Names, draw, names_of, pattern_panels, pick_head

OWN, AVERAGED = "own patterns", "averaged"


@view("one head instead of h", needs="trace")
def one_head(bar: BarTranslation) -> None:
    """Draw the mean of a layer's patterns, and the translation where each head has it."""
    place = pick_head(bar)
    translator, trace = bar.translator, bar.trace
    kind, layer, head = place
    config = translator.model.config
    stack = config.stack(kind)
    if stack.h == 1:
        st.text("This model has one head in each layer, so there is nothing to average.")
        return
    with controls():
        every = st.toggle("In all layers", key="figure2_every", bind="query-params")
    layers = range(stack.N) if every else range(layer, layer + 1)
    edits = compute("edits", multi_head.average_heads, kind, layers)
    after = compute("log_p", log_probs, translator.model, trace, edits)
    list_result("weights", layer_weights := trace.weights(kind), trace.weights, kind)
    weights = part("patterns", layer_weights, layer)  # [head, query, key]
    list_result("mean", mean := weights.mean(0), weights.mean, 0)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(f"Layer {layer + 1}: {stack.h} patterns, and their mean", anchor=False)
        names, color = names_of(trace, place), COLOR[kind]
        chart = cached(_patterns, weights, mean, *names, color, f"{head}")
        draw(trace, chart, f"mean-{head}", place, "The patterns of a layer, and their mean.")
    with right:
        totals = [float(x.sum()) for x in (trace.log_probs, after)]
        change = format_difference(totals[1], totals[0])
        numbers = " → ".join(map(format_number, totals))
        st.subheader(f"Log probability of the translation: {numbers} ({change})", anchor=False)
        charts.altair_chart(
            words_chart(
                display_tokens(trace.target_tokens),
                "patterns",
                {OWN: trace.log_probs, AVERAGED: after},
                height=330,
            ),
            alt="Log probability of each subword, with the heads' own patterns and averaged.",
        )
        where = "all layers" if every else f"layer {layer + 1}"
        name = f"averaged heads in {where} of the {SCREEN_NAMES[kind]}"
        edited_translation.show(bar, edits, name)
    own, averaged = (float(measures.entropy(x).mean()) for x in (weights, mean))
    single = compute("single", multi_head.one_head, config)
    parts = costs.ENCODER_ATTENTION, costs.DECODER_ATTENTION, costs.CROSS_ATTENTION
    sizes = []
    for name, x in (("of_this_model", config), ("of_one_head", single)):
        stack_x, (queries, keys) = x.stack(kind), weights.shape[1:]
        counts = compute(f"parameters_{name}", costs.parameters_by_formula, x)
        operations = compute(
            f"multiplications_{name}", multi_head.attention_operations, stack_x, queries, keys
        )
        sizes.append(
            f"{sum(counts[part] for part in parts):,} parameters in the attention of this model, "
            f"and {operations:,} multiplications in one layer for your sentence"
        )
    explanations.explain(
        f"Each head keeps its values, but has the mean of all {stack.h} patterns. “With a single "
        "attention head, averaging inhibits this”, says the paper: to look at different places in "
        f"different subspaces at once. The mean is more even: its entropy is {averaged:.2f} bits, "
        f"that of the patterns {own:.2f} on average. No size is lost: {stack.h} heads have "
        f"{sizes[0]}; one head as wide as all together would have {sizes[1]}. A model that is "
        "trained with one head can adapt: in Table 3, row (A), it loses 0.9 BLEU."
        + explanations.sources(
            "§3.2.2, Table 3 (A)", multi_head.average_heads, costs.parameters_by_formula
        )
    )
    navigation.link("tables", "Compare the rows of Table 3", {})


def _patterns(
    weights: NDArray[np.floating],
    mean: NDArray[np.floating],
    queries: Names,
    keys: Names,
    color: str,
    opened: str,
) -> dict[str, Any]:
    title = f"mean of {len(weights)}"
    panels = [
        Panel((0.2, 0.8, 0.0, 270.0), title, "", mean, queries, keys, "", color, above=True),
        *pattern_panels(weights, queries, keys, color, 316, HEIGHT),
    ]
    return charts.spec_of(drawing(panels, [(0.5, 316, 270)], HEIGHT, opened))
