"""Parameters: how many numbers a model of any shape learns, by formula and in the real modules."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import ConfigError, TransformerConfig, Translator
from transformer.analysis.paper.counting import (
    PARTS,
    meta_model,
    parameters_by_formula,
    parameters_of_model,
)
from transformer.marian.tokenizer import MarianTokenizer
from viz.app import sentence_bar
from viz.app.charts import altair_chart
from viz.app.explanations import code_line, explain
from viz.app.memory import memo
from viz.app.problems import say
from viz.pages.architecture.parameters_chart import millions, parts_chart

PREFIX = "arch_"
"""Of the names in the URL, before the field of the configuration."""

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
THIS_MODEL = "this model"
"""The one that translates here."""
AS_CHOSEN = "as chosen above"
PAPER = ((TransformerConfig.base(), 65), (TransformerConfig.big(), 213))
"""Millions of parameters as Table 3 has them; the paper's vocabulary of about 37,000 is rounded."""


def show(row: DeltaGenerator) -> None:
    """Draw the view; the presets go into the row that is given."""
    presets = _presets()
    row.menu_button(
        "Presets", list(presets), key="arch-preset", on_click=_take_preset, args=(presets,)
    )
    asked = _controls()
    try:
        config = _like_a_preset(TransformerConfig(**asked), presets)
    except ConfigError as error:
        say(error)
        return
    formula, real = parameters_by_formula(config), _counted(config)
    picture, beside = st.columns([2, 1], gap="large")
    with picture:
        named = {name: parameters_by_formula(other) for name, other in presets.items()}
        chosen = {} if config in presets.values() else {AS_CHOSEN: formula}
        altair_chart(
            parts_chart(chosen | named),
            alt="Parameters of each part of the chosen configuration and of the presets.",
        )
        _parts(config, formula, real)
    with beside:
        _total(config, presets, formula, real)
        explain(
            "Each number is counted twice: by formula from the shape alone, and in the real "
            f"modules, built on a device without memory: {code_line(parameters_by_formula)}, "
            f"{code_line(meta_model)}. {_vocabulary(config)} With 37,000 pieces, the base model "
            "has 63.05 M parameters where Table 3 says 65 M, the big one 214.2 M where it says "
            "213 M: the paper gives its vocabulary as “about 37,000” and rounds."
        )


def _vocabulary(config: TransformerConfig) -> str:
    """How often the vocabulary counts, in Markdown."""
    if config.source_vocab_size is None:
        return (
            "One matrix serves both embeddings and the projection (§3.4), so the vocabulary counts "
            "once."
        )
    return (
        "One matrix serves the decoder's embedding and the projection (§3.4), so the target's "
        "vocabulary, $V$, counts once; the source's, $V_s$, has an embedding of its own."
    )


def _presets() -> dict[str, TransformerConfig]:
    presets = {
        "base": TransformerConfig.base(),
        "big": TransformerConfig.big(),
        "demo": TransformerConfig.demo(),
    }
    if (bar := sentence_bar.current()) is not None:
        presets[THIS_MODEL] = bar.translator.model.config
    return presets


def _controls() -> dict[str, Any]:
    """The fields of a configuration as they were asked for."""
    base = TransformerConfig.base()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        asked: dict[str, Any] = {}
        for field, most in MAXIMA.items():
            open_width = field in ("d_k", "d_v")
            asked[field] = st.number_input(
                LABELS.get(field, field),
                min_value=1,
                max_value=most,
                value=None if open_width else getattr(base, field),
                placeholder="d / h" if open_width else None,
                key=PREFIX + field,
                bind="query-params",
                width=118,
            )
        asked["positions"] = st.selectbox(
            "positions",
            ["sinusoidal", "learned"],
            key=PREFIX + "positions",
            bind="query-params",
            width=128,
        )
    return asked


def _take_preset(presets: dict[str, TransformerConfig]) -> None:
    config = presets[st.session_state["arch-preset"]]
    for field in (*MAXIMA, "positions"):
        st.session_state[PREFIX + field] = getattr(config, field)


def _like_a_preset(
    config: TransformerConfig, presets: dict[str, TransformerConfig]
) -> TransformerConfig:
    """The preset that has all the chosen sizes, with what no control asks for, such as biases."""
    fields = (*MAXIMA, "positions")
    of = {tuple(getattr(one, name) for name in fields): one for one in presets.values()}
    like = of.get(tuple(getattr(config, name) for name in fields))
    return config if like is None or not like.attention_bias else like


def _counted(config: TransformerConfig) -> dict[str, int]:
    return memo(("parameters", config), lambda: parameters_of_model(meta_model(config)))


def _whose(config: TransformerConfig, presets: dict[str, TransformerConfig]) -> str:
    """Which model the numbers beside are of."""
    names = [name for name, preset in presets.items() if preset == config]
    return f"Counted below: {' and '.join(names) or AS_CHOSEN}."


def _total(
    config: TransformerConfig,
    presets: dict[str, TransformerConfig],
    formula: dict[str, int],
    real: dict[str, int],
) -> None:
    total, built = sum(formula.values()), sum(real.values())
    st.text(_whose(config, presets))
    paper = "".join(f" Table 3 says {count} M." for preset, count in PAPER if preset == config)
    st.metric("Parameters", millions(total), help=f"{total:,}")
    agree = "the same" if real == formula else "which is another number"
    st.text(f"{total:,} by formula; {built:,} in the real modules, {agree}.{paper}")
    st.text(f"{total * 4 / 2**20:,.0f} MiB in float32, {total * 2 / 2**20:,.0f} MiB in float16.")
    if config == presets.get(THIS_MODEL):
        _say_added(sentence_bar.drawn_from().translator)


def _say_added(translator: Translator) -> None:
    if added := added_for_start(translator):
        st.text(
            f"{added:,} of them are no part of its folder: MarianMT has no piece <s>, for which "
            f"there is a row here."
        )


def added_for_start(translator: Translator) -> int:
    """Parameters of `<s>` in a model that has none in its folder; 0 of one of ours."""
    source, target = (
        len(one.vocabulary.texts) - len(one.vocabulary.numbers)
        if isinstance(one, MarianTokenizer)
        else 0
        for one in (translator.tokenizer, translator.target_tokenizer)
    )
    config = translator.model.config
    rows = target if config.source_vocab_size is None else source + target
    return rows * config.d_model + target  # and its bias before the softmax


def _parts(config: TransformerConfig, formula: dict[str, int], real: dict[str, int]) -> None:
    total, formulas = sum(formula.values()), formulas_of(config)
    lines = ["| part | formula | by formula | in the model | share |", "|---|---|---:|---:|---:|"]
    lines += [
        f"| {part} | {formulas[part]} | {formula[part]:,} | {real[part]:,} "
        f"| {formula[part] / total:.2%} |"
        for part in PARTS
    ]
    with st.container(key="arch-parts"):
        st.markdown("\n".join(lines))


def formulas_of(config: TransformerConfig) -> dict[str, str]:
    """The formula of each part as LaTeX: V is the vocabulary, L the longest sequence, d the width.

    Biases and a vocabulary of the source, V_s, stand where the model has them.
    """
    attention = r"2 N h\,d\,(d_k + d_v)"
    if config.attention_bias:
        attention += r" + N(2 h\,d_k + h\,d_v + d)"
    embedding = "V d"
    if config.source_vocab_size is not None:
        embedding += " + V_s d"
    if config.output_bias:
        embedding += " + V"
    return {
        "embedding and projection": f"${embedding}$",
        "learned positions": r"$2\,L\,d$",
        "encoder self-attention": f"${attention}$",
        "decoder self-attention": f"${attention}$",
        "cross-attention": f"${attention}$",
        "feed-forward networks": r"$2 N (2\,d\,d_\text{ff} + d_\text{ff} + d)$",
        "layer norms": r"$5 N \cdot 2\,d$",
    }
