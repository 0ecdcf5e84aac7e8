"""The page “Inside a head”: one row, from the residual stream and back into it (§3.2)."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, HeadlightError, Kind, Translation, Translator, hooks, kinds
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.circuits import score, writing
from transformer.paper import scaling
from transformer.paper.arithmetic import SublayerValues, arithmetic, sublayer_values
from transformer.paper.scaling import Scale
from viz.app.cache import cached_results, memory
from viz.app.chrome import charts, explanations, fields, head_picker, mounts, problems
from viz.app.links import address, navigation
from viz.app.sentence import python_code, sentence_bar, translation_line, worth_seeing
from viz.app.sentence.sentence_bar import origin_of
from viz.draw.caption import head_caption
from viz.draw.formatting import format_number
from viz.draw.inside_head import encode_inside, step_of
from viz.draw.labels import display_tokens, quoted, row_names
from viz.figures.axes import GREY, INK, curve_color
from viz.figures.forms import long_form, tips
from viz.pages.inside import circuits
from viz.pages.inside.walk import scale_text, shown_scale, walk_steps

STEP, WORD = "at", "word"  # names in the URL: the step of the walk, and the query
FIRST_STEP = "3"  # on which the page opens: q · k, which decides where the head looks
PAPER_SCALE: Scale = "÷ √d_k"
TEMPERATURES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
WIDTHS = 2 ** np.arange(11)


@dataclass(frozen=True)
class Choices:
    """Choices of the page; the word counts from 0."""

    place: Head
    word: int
    scale: Scale
    temperature: float
    every_head: bool

    @property
    def as_trained(self) -> bool:
        """True if the scores are those of the paper's equation."""
        return self.scale == PAPER_SCALE and self.temperature == 1

    @property
    def in_words(self) -> str:
        """Scale, temperature, and the heads that they hold for."""
        scale = "no scale" if self.scale == "none" else shown_scale(self.scale)
        temperature = "" if self.temperature == 1 else f" and temperature {self.temperature:g}"
        return f"{scale}{temperature} in {'every head' if self.every_head else self.place.title}"

    @property
    def cache_key(self) -> Hashable:
        """Part of a cache key that the scale gives; None for the paper's scale."""
        if self.as_trained:
            return None
        return self.scale, self.temperature, None if self.every_head else self.place.head


def show() -> None:
    """Draw the page for the sentence in the bar."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, translation, trace = bar.translator, bar.translation, bar.trace
    row = st.container(key="inside-controls", horizontal=True, gap="small")
    below = st.container(key="inside-translation", gap=None)
    choices = _choices(trace, row)
    kind, layer, _ = choices.place
    try:
        edits = _edits(translator, choices)
        values = memory.memo_per_trace(
            trace,
            ("attended", kind, layer, choices.cache_key),
            lambda: sublayer_values(translator.model, trace, kind, layer, edits),
        )
        _picture(translator, trace, values, choices)
        url = head_picker.link_parameters(*choices.place)
        navigation.link("heads", "See the map of this head among all others", url)
        card = {**url, navigation.VIEW: navigation.ROLES}
        navigation.link("roles", "See what this head does", card)
        seen, changed = values.seen[choices.word], "" if choices.as_trained else choices.in_words
        name = _row_name(trace, choices)
        row_read = circuits.row_of(trace, choices.place, choices.word, seen, name)
        circuit_code = circuits.show(translator, trace, row_read, changed)
        _charts(trace, values, choices)
    except HeadlightError as error:
        problems.say(error)
        return
    explanations.explain(
        "Every number is the model’s own, from passes over the sentence and its translation.\n\n"
        f"{circuits.EXPLANATION}\n\n"
        "q · k is the dot product as compatibility function (§3.2); additive attention is another. "
        "Cross-attention reads the encoder’s output as earlier, recurrent sequence-to-sequence "
        "models did (Bahdanau et al., 2014).\n\n"
        "Large scores leave one token with all the weight, and the gradient, from which the "
        "model learns, goes towards 0; small scores make all weights nearly equal. Entropy says "
        "how evenly a row is spread. "
        "Width: if the numbers in q and k were independent with variance 1, q · k would have "
        "variance dₖ, and 1/√dₖ would bring it back to 1; in a trained head they are not "
        "independent."
        + explanations.sources(
            "equation 1, §3.2.1", scaling.rescale, score.split_scores, writing.written_logits
        )
    )
    navigation.link("additive", "Compare additive and dot-product attention", {})
    if not choices.as_trained:
        with below:
            show_rescaled_translation(translator, translation, edits, choices.in_words)
    translation_code = f"""
        # Translation
        with translator.model.hooks(edits):
            translation = translator.translate(trace.source{python_code.search_code()})
        result = translation.text, translation.log_prob
    """
    python_code.show_code(
        _code(choices), circuit_code, "" if choices.as_trained else translation_code
    )


def _code(choices: Choices) -> str:
    (kind, layer, head), word = choices.place, choices.word
    factor = f"scaling.factor({choices.scale!r}, stack(kind).d_k, {choices.temperature})"
    hook = f"{factor} * stack(kind).d_k**0.5, {None if choices.every_head else head}"
    places = f"[({kind!r}, {layer})]"
    if choices.every_head:
        places = "[(kind, n) for kind in KINDS for n in range(stack(kind).N)]"
    point = 'attention_name(kind, n) + ".hook_attn_scores"'
    edits = f"{{{point}: scaling.rescale({hook}) for kind, n in places}}"
    return f"""
        stack, kind = translator.model.config.stack, {kind!r}
        places = {places}
        edits = {"{}" if choices.as_trained else edits}
        values = sublayer_values(translator.model, trace, {kind!r}, {layer}, edits)
        q, k = values.q[{head}].astype(float), values.k[{head}].astype(float)
        # {choices.place.title}
        result = arithmetic(values, {head}, {word}, {factor})
        # Large scores: one token takes all
        factors = np.geomspace({10.0 ** _DECADES[0]}, {10.0 ** _DECADES[1]}, {FACTORS})
        result = scaling.saturation((k @ q[{word}])[values.seen[{word}]], factors)
        # Wider q and k: larger scores
        result = scaling.dot_variance(q, k)
    """


def _choices(trace: AttentionTrace, row: DeltaGenerator) -> Choices:
    with row:
        kind, first = head_picker.pick_kind(), worth_seeing.default_choices("inside")
        layers, heads = trace.weights(kind).shape[:2]
        place = head_picker.first_head(first, kind)
        layer, head = head_picker.pick_layer_and_head(head_picker.HEAD, layers, heads, place)
        word = _word(trace, kind, int(first[WORD]) - 1 if place == (layer, head) else 2)
        options = st.popover("Options", width="content")
    with options:
        text = "What q · k is multiplied by. The paper divides it by √dₖ; × √dₖ is a common "
        text += "transcription error."
        names: tuple[Scale, ...] = get_args(Scale)
        scale = fields.menu("Scale", names, "scale_of", format_func=shown_scale, help=text)
        text = "Divides the scores once more; the paper has 1. Low: one token gets most of the "
        text += "weight. High: all get nearly the same."
        bound: dict[str, Any] = {"key": "temperature", "bind": "query-params", "help": text}
        temperature = st.select_slider("Temperature", TEMPERATURES, 1.0, **bound)
        heads = sum(int(np.prod(trace.weights(every).shape[:2])) for every in kinds.KINDS)
        every_head = st.toggle(
            f"Apply to all {heads} heads",
            key="every",
            bind="query-params",
            disabled=scale == PAPER_SCALE and temperature == 1,
            help="Otherwise they change in this head alone. First change scale or temperature.",
        )
    return Choices(Head(kind, layer, head), word, scale, float(temperature), every_head)


def _word(trace: AttentionTrace, kind: Kind, first: int) -> int:
    tokens = display_tokens(trace.labels(kind).queries)
    if kind != "encoder_self":
        tokens = [f"predicts {quoted(token)}" for token in display_tokens(trace.target_tokens)]
    names = [f"{n} {token}" for n, token in enumerate(tokens, start=1)]
    if not fields.clamp_choice(WORD, len(names)):  # another kind or sentence may have fewer rows
        address.choose_by_number(WORD, names)
    label = "Step"
    if kind == "encoder_self":
        label = f"{trace.languages.source or 'Source'} subword"
    first = min(first, len(names) - 1)
    if st.query_params.get(WORD, "").partition(" ")[0] == str(first + 1):
        st.session_state[WORD] = first  # of a link: Streamlit would drop it as the default
    places, named = range(len(names)), names.__getitem__
    return fields.menu(label, places, WORD, width=220, index=first, format_func=named)


def _edits(translator: Translator, choices: Choices) -> dict[str, hooks.Hook]:
    if choices.as_trained:
        return {}
    config = translator.model.config

    def rescale(kind: Kind, layer: int, head: int | None = None) -> tuple[str, hooks.Hook]:
        # of the model's own scores, which are already divided by √d_k
        d_k = config.stack(kind).d_k
        factor = scaling.factor(choices.scale, d_k, choices.temperature) * math.sqrt(d_k)
        point = f"{kinds.attention_name(kind, layer)}.hook_attn_scores"
        return point, scaling.rescale(factor, head)

    if not choices.every_head:
        return dict([rescale(*choices.place)])
    return dict(rescale(kind, n) for kind in kinds.KINDS for n in range(config.stack(kind).N))


def _picture(
    translator: Translator, trace: AttentionTrace, values: SublayerValues, choices: Choices
) -> None:
    kind, _, head = choices.place
    config = translator.model.config.stack(kind)
    factor = scaling.factor(choices.scale, config.d_k, choices.temperature)
    axes, row = by_pieces(trace, kind), _row_name(trace, choices)
    scale = choices.scale, choices.temperature
    steps = walk_steps(config, kind, row, len(axes.labels.keys), *scale)
    at = st.query_params.get(STEP, FIRST_STEP)
    data = encode_inside(
        arithmetic(values, head, choices.word, factor),
        axes.labels.keys,
        f"where does {row} look?",
        kind,
        title=choices.place.title,
        steps=steps,
        step=int(at) if at.isdecimal() and len(at) < 3 else 0,
        head=head,
        factor=scale_text(*scale),
        caption=origin_of(trace).caption(head_caption(*choices.place), f"{choices.in_words}."),
    )

    def remember(step: int) -> None:
        address.choose(STEP, str(step))

    mounts.mount_choice("inside", data, lambda sent: step_of(sent, len(steps)), remember)


def _row_name(trace: AttentionTrace, choices: Choices) -> str:
    axes = by_pieces(trace, choices.place.kind)
    return row_names(axes.labels.queries, reads=axes.reads, writes=axes.writes)[choices.word]


def _charts(trace: AttentionTrace, values: SublayerValues, choices: Choices) -> None:
    d_k, head = values.q.shape[-1], choices.place.head
    dots = (values.k[head] @ values.q[head, choices.word]).astype(np.float64)
    dots = dots[values.seen[choices.word]]
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Large scores: one token takes all", anchor=False)
        scales = np.geomspace(10.0 ** _DECADES[0], 10.0 ** _DECADES[1], FACTORS)
        row = scaling.saturation(dots, scales)
        maximum = math.log2(len(dots)) or 1.0  # one key alone has no entropy
        marks = {shown_scale(name): scaling.factor(name, d_k) for name in get_args(Scale)}
        if choices.temperature != 1:
            marks["here"] = scaling.factor(choices.scale, d_k, choices.temperature)
        charts.altair_chart(
            saturation_chart(scales, (row.largest, row.entropy / maximum, row.gradient), marks),
            alt="Largest weight, entropy and gradient of this row over the scale of q · k.",
            title=choices.place.title,
        )
    with right:
        st.subheader("Wider q and k: larger scores", anchor=False)
        q, k = (x[head].astype(np.float64) for x in (values.q, values.k))
        key = ("dot variance", *choices.place, choices.cache_key)
        measured = memory.memo_per_trace(trace, key, lambda: scaling.dot_variance(q, k))
        charts.altair_chart(
            variance_chart(*measured, WIDTHS, _gaussian()),
            alt="Variance of q · k over the width of queries and keys.",
            title=choices.place.title,
        )


@cache
def _gaussian() -> npt.NDArray[np.float64]:
    """Compute the variance of Gaussian vectors once; it takes 17 million random numbers."""
    return scaling.gaussian_dot_variance(WIDTHS)


def show_rescaled_translation(
    translator: Translator, translation: Translation, edits: Mapping[str, hooks.Hook], name: str
) -> None:
    """Translate under edits, which `name` identifies; mark differences from the bar."""
    try:
        edited = cached_results.translate_edited(
            translator, translation.source, sentence_bar.settings(), edits, name
        )
    except HeadlightError as error:  # an edited translation can have untested settings
        problems.say(error)
        return
    verdict = "the same words"
    if edited.text != translation.text:
        verdict = "new words in bold, dropped ones struck through"
    translation_line.show_candidate(
        edited.text,
        translation.text,
        f"translated with {name}: {verdict} · log probability {format_number(edited.log_prob)}",
    )
    sentence_bar.show_notices_of(edited)


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MEASURES = ("largest weight", "entropy (share of maximum)", "gradient norm")
"""Measures of a row of the softmax, in the order of the curves."""
VARIANCES = (
    "predicted: the width itself",
    "drawn from N(0, 1)",
    "this head, measured",
    "this head, as if independent",
)
"""The curves of the variance of q·k, in the order of their colours."""
_DECADES, FACTORS = (-2, 2), 81  # of the axis of `saturation_chart`
_PLOT, _LEGEND_LINE = 260, 28  # CSS pixels of the plot, and of a line of its legend


def saturation_chart(
    scales: Floats, measures: Sequence[Floats], marks: Mapping[str, float]
) -> alt.LayerChart:
    """Draw measures of the softmax of one row, `[scale]` each, over the factor of its scores."""
    frame = long_form("measure", "value", dict(zip(MEASURES, measures, strict=True)), scale=scales)
    scale = alt.Scale(type="log", domain=[10.0 ** _DECADES[0], 10.0 ** _DECADES[1]])
    axis = alt.Axis(grid=False, values=[0.01, 0.1, 1, 10, 100], format="~g")
    x = alt.X("scale:Q", title="q · k is multiplied by", scale=scale, axis=axis)
    axis = alt.Axis(values=[0, 0.5, 1], format="~g")
    y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=axis)
    chart = alt.Chart(frame, height=_PLOT + _LEGEND_LINE * len(MEASURES))
    lines = chart.mark_line(strokeWidth=2, clip=True).encode(
        x,
        y,
        curve_color("measure", MEASURES),
        tooltip=tips("measure", scale=("", ".3g"), value=("", ".4f")),
    )
    marked = alt.Chart(pd.DataFrame({"name": list(marks), "scale": list(marks.values())}))
    rules = marked.mark_rule(strokeDash=[3, 3], color=GREY).encode(x, tooltip=["name:N"])
    texts = marked.mark_text(baseline="bottom", dy=-3, color=INK)
    return lines + rules + texts.encode(x, y=alt.YValue(0), text=alt.Text("name:N"))


def variance_chart(
    width: Ints, measured: Floats, predicted: Floats, gaussian_width: Ints, gaussian: Floats
) -> alt.LayerChart:
    """Draw the variance of q·k over the width of queries and keys, on logarithmic axes."""
    drawn = {VARIANCES[0]: gaussian_width.astype(np.float64), VARIANCES[1]: gaussian}
    in_head = {VARIANCES[2]: measured, VARIANCES[3]: predicted}
    frame = pd.concat(
        long_form("curve", "variance", values, width=at)
        for values, at in ((drawn, gaussian_width), (in_head, width))
    )
    frame = frame[frame["variance"] > 0]  # a single word has variance 0, without a logarithm
    height = _PLOT + _LEGEND_LINE * len(VARIANCES)
    across = alt.Axis(grid=False, values=[1, 4, 16, 64, 256, 1024])
    up = alt.Axis(values=[10.0**n for n in range(-4, 7)], format="~g")
    logs = alt.Scale(type="log", base=2), alt.Scale(type="log", nice=False)
    chart = alt.Chart(frame, height=height).encode(
        alt.X("width:Q", title="width of q and k", scale=logs[0], axis=across),
        alt.Y("variance:Q", title="variance of q · k", scale=logs[1], axis=up),
        curve_color("curve", VARIANCES),
        tooltip=tips("curve", width=("", ""), variance=("", ".3~f")),
    )
    gaussian_only = f"datum.curve === '{VARIANCES[1]}'"
    lines = chart.transform_filter(f"!({gaussian_only})").mark_line(strokeWidth=2)
    dots = chart.transform_filter(gaussian_only).mark_point(size=40, filled=True, opacity=1)
    return lines + dots
