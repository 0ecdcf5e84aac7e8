"""The view “Parameters”: the size of a model of any shape, by formula and in the modules."""

import operator
from collections.abc import Mapping
from typing import Any, get_args

import altair as alt
import pandas as pd
import streamlit as st

from transformer import TransformerConfig
from transformer.config import LATER, Positions
from transformer.paper.costs import meta_model, parameters_by_formula, parameters_of_config
from viz.app.chrome import charts, explanations
from viz.app.chrome.fields import controls_row, menu
from viz.app.sentence.sentence_bar import Bar
from viz.app.view import compute, controls, view
from viz.draw import formatting
from viz.draw.palette import COLOR
from viz.figures import axes, forms
from viz.pages.architecture import boxes

PREFIX = "arch_"  # prefix of the names in the URL, before the field of the configuration

MAXIMA = {
    "N": 64,
    "d_model": 16_384,
    "d_ff": 65_536,
    "h": 256,
    "d_k": 4_096,
    "d_v": 4_096,
    "vocab_size": 1_000_000,
    "max_length": 65_536,
}
LABELS = {"vocab_size": "vocabulary", "max_length": "longest"}
THIS_MODEL, AS_CHOSEN = "this model", "your sizes"
"""Names of the model in use, and of the chosen sizes."""
PAPER = ((TransformerConfig.base(), 65), (TransformerConfig.big(), 213))
"""Configurations with their millions of parameters in Table 3, for about 37,000 pieces."""


@view("parameters", needs="bar")
def parameters(bar: Bar) -> None:
    """Draw how many parameters a configuration has, by formula and in the model."""
    presets = {
        "base": compute("base", TransformerConfig.base),
        "big": compute("big", TransformerConfig.big),
        "demo": compute("demo", TransformerConfig.demo),
    }
    if bar.translator is not None:
        presets[THIS_MODEL] = bar.translator.model.config

    def take() -> None:
        config = presets[st.session_state["arch-preset"]]
        for field in (*MAXIMA, "positions"):
            st.session_state[PREFIX + field] = getattr(config, field)

    controls().menu_button("Presets", list(presets), key="arch-preset", on_click=take)
    fields: dict[str, Any] = {}
    with controls_row():
        for field, maximum in MAXIMA.items():
            optional = field in ("d_k", "d_v")
            fields[field] = st.number_input(
                LABELS.get(field, field),
                1,
                maximum,
                None if optional else getattr(presets["base"], field),
                placeholder="d / h" if optional else None,
                key=PREFIX + field,
                bind="query-params",
                width=118,
            )
        kinds = get_args(Positions)
        fields["positions"] = menu("positions", kinds, PREFIX + "positions", width=128)
    config = compute("config", TransformerConfig, **fields)
    sizes = operator.attrgetter(*MAXIMA, "positions")
    preset = {sizes(preset): preset for preset in presets.values()}.get(sizes(config))
    # the fields have no biases and no sizes of the decoder, which a preset may have
    further = preset is not None and (preset.attention_bias or preset.to_dict().keys() & LATER)
    if preset is not None and further:
        config = preset
    formula = compute("by_formula", parameters_by_formula, config)
    counted = compute("in_the_model", parameters_of_config, config)
    picture, details = st.columns([2, 1], gap="large")
    with picture:
        preset_counts = {
            name: compute(f"of_{name.replace(' ', '_')}", parameters_by_formula, other)
            for name, other in presets.items()
        }
        own = {} if config in presets.values() else {AS_CHOSEN: formula}
        charts.altair_chart(
            parts_chart(own | preset_counts),
            alt="Parameters of each part of the chosen configuration and of the presets.",
        )
        total = sum(formula.values())
        rows = [
            f"| {part} | {'' if further else text} | {formula[part]:,} | {counted[part]:,} "
            f"| {formula[part] / total:.2%} |"
            for part, (text, _) in PARTS.items()
        ]
        head = "| part | formula | by formula | in the model | share |\n|---|---|---:|---:|---:|"
        st.markdown("\n".join([head, *rows]))
    with details:
        names = (name for name, preset in presets.items() if preset == config)
        named = (name if name == THIS_MODEL else f"{name} model" for name in names)
        st.text(f"The table shows: {' and '.join(named) or AS_CHOSEN}.")
        paper = "".join(f" Table 3 says {count} M." for preset, count in PAPER if preset == config)
        st.metric("Parameters", formatting.millions(total), help=f"{total:,}")
        verdict = "the same" if counted == formula else "not the same"
        built = sum(counted.values())
        st.text(f"{total:,} by formula; {built:,} in the model: {verdict}.{paper}")
        floats = f"{total * 4 / 2**20:,.0f} MiB in float32, {total * 2 / 2**20:,.0f} MiB in float16"
        st.text(f"{floats}.")
        explanations.explain(
            "Change a size to see how many parameters it adds. Each number is counted twice: by "
            f"formula, and in the model itself. {boxes.matrices(config)}"
            + explanations.sources("§3.4, Table 3", parameters_by_formula, meta_model)
        )


PARTS: dict[str, tuple[str, str]] = {
    "embedding and projection": ("$V d$", axes.VIOLET),
    "learned positions": (r"$2\,L\,d$", axes.PINK),
    "encoder self-attention": (r"$2 N h\,d\,(d_k + d_v)$", COLOR["encoder_self"]),
    "decoder self-attention": (r"$2 N h\,d\,(d_k + d_v)$", COLOR["decoder_self"]),
    "cross-attention": (r"$2 N h\,d\,(d_k + d_v)$", COLOR["cross"]),
    "feed-forward networks": (r"$2 N (2\,d\,d_\text{ff} + d_\text{ff} + d)$", axes.OCHRE),
    "layer norms": (r"$5 N \cdot 2\,d$", axes.SLATE),
}
"""Formula of each part in LaTeX, and its colour: V is the vocabulary, L the longest sequence, d the
width. Of a model with more biases, matrices or sizes than the paper's, none is printed."""


def parts_chart(models: Mapping[str, Mapping[str, int]]) -> alt.LayerChart:
    """Draw one stacked bar for each model, of the parameters of its parts, and their total."""
    order = list(PARTS).index
    sums = {model: sum(parts.values()) for model, parts in models.items()}
    rows = [
        (model, part, count, order(part), count / sums[model])
        for model, parts in models.items()
        for part, count in parts.items()
        if count
    ]
    frame = pd.DataFrame(rows, columns=["model", "part", "count", "order", "share"])
    totals = pd.DataFrame(sums.items(), columns=["model", "count"])
    totals["label"] = [formatting.millions(count) for count in totals["count"]]
    y = alt.Y("model:N", sort=list(models), title=None, axis=alt.Axis(labelLimit=160, ticks=False))
    # space for the total after the longest bar
    scale = alt.Scale(domain=[0, float(totals["count"].max()) * 1.22])
    axis = alt.Axis(labelExpr=axes.tick_label("~s"), tickCount=5)
    x = alt.X("count:Q", title="parameters", scale=scale, axis=axis)
    colors = {part: color for part, (_, color) in PARTS.items()}
    color = axes.named_color("part", colors, orient="bottom", columns=1, labelLimit=200)
    tooltip = forms.tips("model", "part", count=("", ","), share=("", ".2%"))
    # each bar with its margins, the axis and the legend
    chart = alt.Chart(frame, height=64 * len(models) + 200)
    bars = chart.mark_bar(height={"band": 0.62}).encode(
        x, y, color, order=alt.Order("order:O"), tooltip=tooltip
    )
    words = alt.Chart(totals).mark_text(align="left", dx=6, fontSize=13, color=axes.INK)
    return bars + words.encode(x=alt.X("count:Q", scale=scale), y=y, text=alt.Text("label:N"))
