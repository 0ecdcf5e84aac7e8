"""The page “Inside a head”: one row, from the residual stream and back into it (§3.2)."""

from dataclasses import dataclass
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, HeadlightError, Kind, Translator
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.attention import attention_scores
from transformer.circuits import score, writing
from transformer.paper import scaling
from transformer.paper.arithmetic import SublayerValues, arithmetic, sublayer_values
from transformer.paper.scaling import Scale
from viz.app.cache import memory
from viz.app.chrome import explanations, fields, head_picker, mounts, problems
from viz.app.links import address, navigation
from viz.app.sentence import edited_translation, python_code, sentence_bar, worth_seeing
from viz.app.sentence.sentence_bar import origin_of
from viz.app.view import cached
from viz.draw.caption import head_caption
from viz.draw.inside_head import encode_inside, step_of
from viz.draw.labels import display_tokens, quoted, row_names, shown_scale
from viz.pages.inside import circuits
from viz.pages.inside.walk import scale_text, walk_steps

STEP, WORD = "at", "word"  # names in the URL: the step of the walk, and the query
FIRST_STEP = "3"  # on which the page opens: q · k, which decides where the head looks
PAPER_SCALE: Scale = "÷ √d_k"


@dataclass(frozen=True)
class Choices:
    """Choices of the page; the word counts from 0."""

    place: Head
    word: int
    scale: Scale

    @property
    def as_trained(self) -> bool:
        """True if the scores are those of the paper's equation."""
        return self.scale == PAPER_SCALE

    @property
    def in_words(self) -> str:
        """The scale, and the head that it holds for."""
        scale = "no scale" if self.scale == "none" else shown_scale(self.scale)
        return f"{scale} in {self.place.title}"


def show() -> None:
    """Draw the page for the sentence in the bar."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, translation, trace = bar.translator, bar.translation, bar.trace
    row = st.container(key="inside-controls", horizontal=True, gap="small")
    below = st.container(key="inside-translation", gap=None)
    choices = _choices(trace, row)
    kind, layer, head = choices.place
    try:
        rescaled = scaling.rescaled(translator.model.config, choices.scale, choices.place)
        edits = {} if choices.as_trained else rescaled
        if choices.as_trained:
            values = cached(sublayer_values, translator.model, trace, kind, layer)
        else:
            values = memory.memo_per_trace(
                trace,
                ("attended", kind, layer, (choices.scale, head)),
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
    except HeadlightError as error:
        problems.say(error)
        return
    explanations.explain(
        "Every number is the model’s own, from passes over the sentence and its translation.\n\n"
        f"{circuits.EXPLANATION}\n\n"
        "q · k is the dot product as compatibility function (§3.2); additive attention is another. "
        "Cross-attention reads the encoder’s output as earlier, recurrent sequence-to-sequence "
        "models did (Bahdanau et al., 2014)."
        + explanations.sources(
            "equation 1, §3.2.1",
            attention_scores,
            scaling.rescale,
            score.split_scores,
            writing.written_logits,
        )
    )
    navigation.link("additive", "See why q · k is divided by √dₖ", {"additive_view": "Scale"})
    if not choices.as_trained:
        with below:
            edited_translation.show(translator, translation, edits, choices.in_words)
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
    factor = f"scaling.factor({choices.scale!r}, values.q.shape[-1])"
    place = python_code.head_code(choices.place)
    edits = f"scaling.rescaled(translator.model.config, {choices.scale!r}, {place})"
    return f"""
        edits = {"{}" if choices.as_trained else edits}
        values = sublayer_values(translator.model, trace, {kind!r}, {layer}, edits)
        # {choices.place.title}
        result = arithmetic(values, {head}, {word}, {factor})
    """


def _choices(trace: AttentionTrace, row: DeltaGenerator) -> Choices:
    with row:
        kind, first = head_picker.pick_kind(), worth_seeing.default_choices("inside")
        layers, heads = trace.weights(kind).shape[:2]
        place = head_picker.first_head(first, kind)
        layer, head = head_picker.pick_layer_and_head(head_picker.HEAD, layers, heads, place)
        word = _word(trace, kind, int(first[WORD]) - 1 if place == (layer, head) else 2)
        names: tuple[Scale, ...] = get_args(Scale)
        text = "What q · k is multiplied by, in this head alone. The paper divides it by √dₖ."
        scale = fields.menu(
            "Scale", names, "scale_of", format_func=shown_scale, help=text, width=190
        )
    return Choices(Head(kind, layer, head), word, scale)


def _word(trace: AttentionTrace, kind: Kind, first: int) -> int:
    tokens = display_tokens(trace.labels(kind).queries)
    if kind != "encoder_self":
        tokens = [f"predicts {quoted(token)}" for token in display_tokens(trace.target_tokens)]
    label = "Step"
    if kind == "encoder_self":
        label = f"{trace.languages.source or 'Source'} subword"
    return fields.numbered_menu(label, tokens, WORD, first=first, width=220)


def _picture(
    translator: Translator, trace: AttentionTrace, values: SublayerValues, choices: Choices
) -> None:
    kind, _, head = choices.place
    config = translator.model.config.stack(kind)
    factor = scaling.factor(choices.scale, config.d_k)
    axes, row = by_pieces(trace, kind), _row_name(trace, choices)
    steps = walk_steps(config, kind, row, len(axes.labels.keys), choices.scale)
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
        factor=scale_text(choices.scale),
        caption=origin_of(trace).caption(head_caption(*choices.place), f"{choices.in_words}."),
    )

    def remember(step: int) -> None:
        address.choose(STEP, str(step))

    mounts.mount_choice("inside", data, lambda sent: step_of(sent, len(steps)), remember)


def _row_name(trace: AttentionTrace, choices: Choices) -> str:
    axes = by_pieces(trace, choices.place.kind)
    return row_names(axes.labels.queries, reads=axes.reads, writes=axes.writes)[choices.word]
