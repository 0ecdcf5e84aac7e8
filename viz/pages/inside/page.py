"""Inside a head: one row, from the residual stream and back into it (§3.2)."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from typing import get_args

import numpy as np
import numpy.typing as npt
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, HeadlightError, Kind, Translator
from transformer.analysis.axes import by_pieces
from transformer.analysis.paper import scaling
from transformer.analysis.paper.arithmetic import SublayerValues, arithmetic, sublayer_values
from transformer.analysis.paper.scaling import Scale
from transformer.hooks import Hook
from transformer.kinds import attention_name
from viz.app import navigation, sentence_bar
from viz.app.charts import altair_chart
from viz.app.explanations import code_line, explain
from viz.app.head_picker import HEAD, in_link, pick_kind, pick_layer_and_head
from viz.app.memory import memo_per_trace
from viz.app.mounts import mount_inside
from viz.app.origin import origin_of
from viz.app.problems import say
from viz.draw.caption import head_caption
from viz.draw.inside_head import encode_inside
from viz.draw.labels import display_tokens, head_title, row_names
from viz.pages.inside.charts import factors, saturation_chart, variance_chart
from viz.pages.inside.rescaled_translation import rescaled_translation
from viz.pages.inside.walk import shown_scale, times, walk_steps

STEP, WORD = "at", "word"
"""Names in the URL: the step of the walk, and the position that looks."""
PAPERS: Scale = "÷ √d_k"
TEMPERATURES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
WIDTHS = 2 ** np.arange(11)


@dataclass(frozen=True)
class Choices:
    """What the page is asked to show; layer, head and word count from 0."""

    kind: Kind
    layer: int
    head: int
    word: int
    scale: Scale
    temperature: float
    every: bool

    @property
    def as_trained(self) -> bool:
        """Whether the scores are those of the paper's equation."""
        return as_in_paper(self.scale, self.temperature)

    def by(self, d_k: int) -> float:
        """What the model's own scores, already divided by √d_k, are multiplied by."""
        return scaling.factor(self.scale, d_k, self.temperature) * math.sqrt(d_k)


def as_in_paper(scale: Scale, temperature: float) -> bool:
    """Whether scale and temperature are those of equation 1."""
    return scale == PAPERS and temperature == 1


def show() -> None:
    """Draw the page for the sentence in the bar."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, translation, trace = bar
    row = st.container(key="inside-controls", horizontal=True, gap="small")
    below = st.container(key="inside-translation", horizontal=True, gap="medium")
    chosen = _choices(trace, row, below)
    try:
        edits = _edits(translator, chosen)
        of = _attended(translator, trace, chosen, edits)
        _picture(translator, trace, of, chosen)
        one = in_link(chosen.kind, chosen.layer, chosen.head)
        navigation.link("heads", "the map of this head, among all others", one)
        _charts(trace, of, chosen)
    except HeadlightError as error:
        say(error)
        return
    _explain()
    with below, st.container(gap=None):
        if chosen.as_trained:
            st.text(
                "Scale and temperature are the paper's: choose others to see the translation that "
                "they lead to, in this head alone or in every head."
            )
        else:
            rescaled_translation(translator, translation, edits, _scale_in_words(chosen))


def _choices(trace: AttentionTrace, row: DeltaGenerator, below: DeltaGenerator) -> Choices:
    layers, heads = trace.cross.shape[:2]
    with row:
        kind = pick_kind()
        layer, head = pick_layer_and_head(HEAD, layers, heads)
        word = _word(trace, kind)
        scale = st.selectbox(
            "Scale",
            get_args(Scale),
            format_func=shown_scale,
            key="scale_of",
            bind="query-params",
            width=150,
            help="What q · k is multiplied by. Equation 1 divides by √dₖ. None leaves q · k as it "
            "is; × √dₖ is a misprint that is often copied.",
        )
        temperature = st.select_slider(
            "Temperature",
            TEMPERATURES,
            1.0,
            key="temperature",
            bind="query-params",
            width=200,
            help="Divides the scores once more; 1 in the paper. Low is sharp, high is even.",
        )
    every = below.toggle(
        "In every head",
        key="every",
        bind="query-params",
        disabled=as_in_paper(scale, temperature),
        help="Scale and temperature of all heads of all layers, not of this one alone. There "
        "is nothing to change in them while both are the paper's.",
    )
    return Choices(kind, layer, head, word, scale, float(temperature), every)


def _word(trace: AttentionTrace, kind: Kind) -> int:
    """Which position looks, from 0."""
    tokens = display_tokens(trace.labels(kind).queries)
    names = [f"{n} {token}" for n, token in enumerate(tokens, start=1)]
    if isinstance(row := st.session_state.get(WORD), int):
        # menu and address have the name, which is another one for another kind or sentence
        st.session_state[WORD] = min(row, len(names) - 1)
    rows: dict[Kind, str] = {
        "encoder_self": f"Row of {trace.languages.source or 'the source'}",
        "decoder_self": "Row that reads",
        "cross": "Row that writes",
    }
    return st.selectbox(
        rows[kind],
        range(len(names)),
        index=min(2, len(names) - 1),
        format_func=names.__getitem__,
        key=WORD,
        bind="query-params",
        width=240,
    )


def _edits(translator: Translator, chosen: Choices) -> dict[str, Hook]:
    """Hooks that put the chosen scale in the place of the paper's."""
    if chosen.as_trained:
        return {}
    by = chosen.by(translator.model.config.d_k)
    if not chosen.every:
        here = attention_name(chosen.kind, chosen.layer)
        return {f"{here}.hook_attn_scores": scaling.rescale(by, chosen.head)}
    points = translator.model.hook_points()
    return {name: scaling.rescale(by) for name in points if name.endswith("hook_attn_scores")}


def _attended(
    translator: Translator, trace: AttentionTrace, chosen: Choices, edits: dict[str, Hook]
) -> SublayerValues:
    return memo_per_trace(
        trace,
        ("attended", chosen.kind, chosen.layer, _scale_in_use(chosen)),
        lambda: sublayer_values(translator.model, trace, chosen.kind, chosen.layer, edits),
    )


def _scale_in_use(chosen: Choices) -> Hashable:
    """All that the pass depends on beside the sentence; None for the model as it was trained."""
    if chosen.as_trained:
        return None
    return chosen.scale, chosen.temperature, None if chosen.every else chosen.head


def _picture(
    translator: Translator, trace: AttentionTrace, of: SublayerValues, chosen: Choices
) -> None:
    config = translator.model.config
    factor = scaling.factor(chosen.scale, config.d_k, chosen.temperature)
    axes = by_pieces(trace, chosen.kind)
    row = row_names(axes.labels.queries, reads=axes.reads, writes=axes.writes)[chosen.word]
    steps = walk_steps(
        config, chosen.kind, row, len(axes.labels.keys), chosen.scale, chosen.temperature
    )
    data = encode_inside(
        arithmetic(of, chosen.head, chosen.word, factor),
        axes.labels.keys,
        f"{row} looks",
        chosen.kind,
        title=_name(chosen),
        steps=steps,
        step=_step(),
        head=chosen.head,
        factor=times(chosen.scale, chosen.temperature),
        caption=origin_of(trace).caption(
            head_caption(chosen.kind, chosen.layer, chosen.head), f"{_scale_in_words(chosen)}."
        ),
    )
    mount_inside("inside", data, len(steps), _remember)


def _step() -> int:
    text = st.query_params.get(STEP, "0")
    return int(text) if text.isdecimal() and len(text) < 3 else 0


def _remember(step: int) -> None:
    st.query_params[STEP] = str(step)


def _charts(trace: AttentionTrace, of: SublayerValues, chosen: Choices) -> None:
    d_k = of.q.shape[-1]
    dots = (of.k[chosen.head] @ of.q[chosen.head, chosen.word]).astype(np.float64)
    dots = dots[of.seen[chosen.word]]
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("The softmax saturates", anchor=False)
        at = factors()
        row = scaling.saturation(dots, at)
        most = math.log2(len(dots)) or 1.0  # one key alone has no entropy
        marks = {shown_scale(name): scaling.factor(name, d_k) for name in get_args(Scale)}
        if chosen.temperature != 1:
            marks["here"] = scaling.factor(chosen.scale, d_k, chosen.temperature)
        altair_chart(
            saturation_chart(at, row.largest, row.entropy / most, row.gradient, marks),
            alt="Largest weight, entropy and gradient of this row over the scale of q · k.",
        )
    with right:
        st.subheader("The variance of q · k grows with dₖ", anchor=False)
        head = memo_per_trace(
            trace,
            ("dot variance", chosen.kind, chosen.layer, chosen.head, _scale_in_use(chosen)),
            lambda: scaling.dot_variance(
                of.q[chosen.head].astype(np.float64), of.k[chosen.head].astype(np.float64)
            ),
        )
        altair_chart(
            variance_chart(*head, WIDTHS, _gaussian()),
            alt="Variance of q · k over the width of queries and keys.",
        )


@cache
def _gaussian() -> npt.NDArray[np.float64]:
    """The same for everybody; it takes seventeen million random numbers."""
    return scaling.gaussian_dot_variance(WIDTHS)


def _explain() -> None:
    explain(
        "Every number is the model’s own, read at its hook points in one pass over the sentence "
        f"and its translation: equation 1 (§3.2.1), {code_line(scaling.rescale)} changes its "
        "scale. Left: where the scores are large, the softmax looks at one token alone, and its "
        "gradient ∂αᵢ/∂sⱼ = αᵢ(δᵢⱼ − αⱼ), from which the model learns, goes towards 0; where they "
        "are small, all weights are nearly equal. "
        "Right: for independent components of mean 0 and variance 1 the variance of q · k is dₖ, "
        "so 1/√dₖ brings it back to 1; the components of a trained head are not independent."
    )


def _scale_in_words(chosen: Choices) -> str:
    """The scale in words, as the line under the controls has it."""
    scale = "no scale" if chosen.scale == "none" else shown_scale(chosen.scale)
    by = "" if chosen.temperature == 1 else f" and temperature {chosen.temperature:g}"
    return f"{scale}{by} in {'every head' if chosen.every else _name(chosen)}"


def _name(chosen: Choices) -> str:
    return head_title(chosen.kind, chosen.layer, chosen.head)
