"""The view “one head instead of h”: each head of a layer has the mean of the layer's patterns."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer.analysis.heads import measures
from transformer.analysis.heads.head import Head
from transformer.analysis.teacher_forcing import log_probs
from transformer.paper import costs, multi_head
from viz.app.cache import memory
from viz.app.chrome import charts, explanations
from viz.app.links import navigation
from viz.app.sentence import edited_translation, python_code
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.formatting import format_difference, format_number
from viz.draw.labels import SCREEN_NAMES, display_tokens
from viz.draw.palette import COLOR
from viz.figures.changes import words_chart
from viz.figures.figure2 import Panel, drawing
from viz.pages.figure2.matrices import HEIGHT, draw, names_of, pattern_panels

OWN, AVERAGED = "own patterns", "averaged"


def show(bar: BarTranslation, place: Head, row: DeltaGenerator) -> None:
    """Draw the view."""
    translator, trace = bar.translator, bar.trace
    kind, layer, head = place
    config = translator.model.config
    stack = config.stack(kind)
    if stack.h == 1:
        st.text("This model has one head in each layer, so there is nothing to average.")
        return
    with row:
        every = st.toggle("In all layers", key="figure2_every", bind="query-params")
    layers = range(stack.N) if every else range(layer, layer + 1)
    edits = multi_head.average_heads(kind, layers)
    after = memory.memo_per_trace(
        trace,
        ("averaged", kind, *layers),
        lambda: log_probs(translator.model, trace, edits),
    )
    weights = trace.weights(kind)[layer]  # [head, query, key]
    mean = weights.mean(0)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(f"Layer {layer + 1}: {stack.h} patterns, and their mean", anchor=False)
        names, color = names_of(trace, place), COLOR[kind]
        middle = (0.2, 0.8, 0.0, 270.0)
        panels = [
            Panel(middle, f"mean of {stack.h}", "", mean, *names, "", color, above=True),
            *pattern_panels(weights, *names, color, 316, HEIGHT),
        ]
        make = partial(drawing, panels, [(0.5, 316, 270)], HEIGHT, f"{head}")
        draw(trace, make, f"mean-{head}", place, "The patterns of a layer, and their mean.")
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
        edited_translation.show(translator, bar.translation, edits, name)
    own, averaged = (float(measures.entropy(x).mean()) for x in (weights, mean))
    parts = costs.ENCODER_ATTENTION, costs.DECODER_ATTENTION, costs.CROSS_ATTENTION
    sizes = [
        f"{sum(costs.parameters_by_formula(x)[part] for part in parts):,} parameters in the "
        f"attention of this model, and "
        f"{multi_head.attention_operations(x.stack(kind), *weights.shape[1:]):,} multiplications "
        "in one layer for your sentence"
        for x in (config, multi_head.one_head(config))
    ]
    explanations.explain(
        f"Each head keeps its values, but has the mean of all {stack.h} patterns. “With a single "
        "attention head, averaging inhibits this”, says the paper: to look at different places in "
        f"different subspaces at once. The mean is less decided: {averaged:.2f} bits of entropy, "
        f"the patterns {own:.2f} on average. No size is lost: {stack.h} heads have {sizes[0]}; one "
        f"head as wide as all together would have {sizes[1]}. A model that is "
        "trained with one head can adapt: in Table 3, row (A), it loses 0.9 BLEU."
        + explanations.sources(
            "§3.2.2, Table 3 (A)", multi_head.average_heads, costs.parameters_by_formula
        )
    )
    navigation.link("tables", "Compare the rows of Table 3", {})
    code = f"""
        edits = multi_head.average_heads({kind!r}, {layers})
        # Patterns, and their mean
        result = trace.weights({kind!r})[{layer}], trace.weights({kind!r})[{layer}].mean(0)
        # Log probability of each subword
        result = trace.log_probs, log_probs(translator.model, trace, edits)
        # Translation
        with translator.model.hooks(edits):
            translation = translator.translate(trace.source{python_code.search_code()})
        result = translation.text, translation.log_prob
        # Parameters and multiplications
        models = translator.model.config, multi_head.one_head(translator.model.config)
        result = [
            (
                costs.parameters_by_formula(model),
                multi_head.attention_operations(model.stack({kind!r}), *{weights.shape[1:]}),
            )
            for model in models
        ]
    """
    python_code.show_code(code)
