"""The page “Inside a head”: one row, from the residual stream and back into it (§3.2)."""

from dataclasses import dataclass
from typing import get_args

import streamlit as st

from transformer import AttentionTrace, Kind, Translator
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.attention import attention_scores
from transformer.circuits import score, writing
from transformer.paper import scaling
from transformer.paper.arithmetic import SublayerValues, arithmetic, sublayer_values
from transformer.paper.scaling import Scale
from viz.app import edited_translation
from viz.app.chrome import explanations, fields, head_picker, mounts
from viz.app.links import address, navigation
from viz.app.sentence import worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Page, compute, controls, view
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
    def description(self) -> str:
        """The scale, and the head that it holds for."""
        scale = "no scale" if self.scale == "none" else shown_scale(self.scale)
        return f"{scale} in {self.place.title}"


@view(needs="trace")
def inside_a_head(bar: BarTranslation) -> None:
    """Draw one row of a head step by step, then why it looks there and what it writes."""
    translator, trace = bar.translator, bar.trace
    choices = _choices(translator, trace)
    kind, layer, _ = place = choices.place
    below = st.container(key="inside-translation", gap=None)
    model, edits = translator.model, {}
    if choices.as_trained:
        values = compute("values", sublayer_values, model, trace, kind, layer)
    else:
        edits = compute("edits", scaling.rescale_scores, model, choices.scale, place)
        values = compute("values", sublayer_values, model, trace, kind, layer, edits)
    _picture(bar, values, choices)
    url = head_picker.link_parameters(*place)
    navigation.link("heads", "See the map of this head among all others", url)
    card = {**url, navigation.VIEW: navigation.ROLES}
    navigation.link("roles", "See what this head does", card)
    seen, changed = values.seen[choices.word], "" if choices.as_trained else choices.description
    row = circuits.row_of(trace, place, choices.word, seen, _row_name(trace, choices))
    circuits.show(translator, trace, row, changed)
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
            edited_translation.show(bar, edits, choices.description)


def _choices(translator: Translator, trace: AttentionTrace) -> Choices:
    with controls():
        kind = head_picker.pick_kind()
        first = worth_seeing.default_choices("inside", translator, trace)
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


def _picture(bar: BarTranslation, values: SublayerValues, choices: Choices) -> None:
    trace = bar.trace
    kind, _, head = choices.place
    config = bar.translator.model.config.stack(kind)
    factor = scaling.factor(choices.scale, config.d_k)
    axes, row = by_pieces(trace, kind), _row_name(trace, choices)
    steps = walk_steps(config, kind, row, len(axes.labels.keys), choices.scale)
    at = st.query_params.get(STEP, FIRST_STEP)
    data = encode_inside(
        compute("walk", arithmetic, values, head, choices.word, factor),
        axes.labels.keys,
        f"where does {row} look?",
        kind,
        title=choices.place.title,
        steps=steps,
        step=int(at) if at.isdecimal() and len(at) < 3 else 0,
        plays=address.STOP in st.query_params and at == "1",  # where the first steps lead
        head=head,
        factor=scale_text(choices.scale),
        caption=bar.origin.caption(head_caption(*choices.place), f"{choices.description}."),
    )

    def remember(step: int) -> None:
        address.choose(STEP, str(step))

    mounts.mount_choice("inside", data, lambda sent: step_of(sent, len(steps)), remember)


def _row_name(trace: AttentionTrace, choices: Choices) -> str:
    axes = by_pieces(trace, choices.place.kind)
    return row_names(axes.labels.queries, reads=axes.reads, writes=axes.writes)[choices.word]


PAGE = Page(
    "inside",
    "How does a head compute its weights?",
    ("head", "encoder", "decoder", "cross-attention", "weight", "entropy", "end"),
    (inside_a_head,),
    row="inside-controls",
)
