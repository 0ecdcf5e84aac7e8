"""Figure 1 with the tensors of the sentence, what each box says as it plays, and one open box."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Transformer
from transformer.analysis import sinks
from transformer.arrays import Singles
from transformer.paper import costs
from transformer.paper.convolution import by_convolutions
from transformer.paper.flow import LOGITS, PROBABILITIES, Flow, flow
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome import explanations, fields, mounts
from viz.app.chrome.head_picker import HEAD, KIND, pick_layer
from viz.app.links import navigation
from viz.app.sentence import player
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import compute, controls, part, view
from viz.draw.architecture import DrawnBox, Playing, encode_architecture, encode_strip
from viz.draw.attention_map import MapAxes, encode_map
from viz.draw.caption import Origin, head_caption
from viz.draw.formatting import counted, format_number, format_probability, per_cent
from viz.draw.labels import SCREEN_NAMES, capitalised, display_tokens, quoted
from viz.draw.trace_message import WINDOW, SearchStep
from viz.draw.watched import search_steps
from viz.pages.architecture.boxes import Box, model_boxes
from viz.pages.architecture.norms import LAYER, show_token

OVER_VOCABULARY = (LOGITS, PROBABILITIES)  # values with a column for each piece of the translation


class Scene(NamedTuple):
    """Tensors of a sentence and its translation, at one layer of each stack."""

    model: Transformer
    trace: AttentionTrace
    tensors: Flow
    layers: Mapping[str, int]
    origin: Origin

    def layer(self, box: Box) -> int:
        """Return the layer at which a box is drawn, from 0."""
        return self.layers[box.stack]

    def values(self, box: Box) -> Singles | None:
        """Return the output of a box; None for tokens."""
        return self.tensors.values.get(box.value.format(self.layer(box)))

    def rows(self, box: Box) -> tuple[str, ...]:
        """Return the tokens of a box's rows: those read, in the last two boxes those written."""
        if box.stack == "encoder":
            return self.trace.source_tokens
        written = box.value in OVER_VOCABULARY
        return self.trace.target_tokens if written else self.trace.decoder_tokens

    def shape(self, box: Box) -> str:
        """Format the shape of a box's output, as `12 × 256`."""
        if (values := self.values(box)) is None:
            return f"{len(self.rows(box))} tokens"
        if box.value in OVER_VOCABULARY:
            return f"{len(values)} × {self.tensors.vocab_size:,}"
        return times(values.shape)

    def name_with_layer(self, name: str, box: Box) -> str:
        """Return a name of a box with its layer."""
        return f"{name}, layer {self.layer(box) + 1}" if box.layered else name


def times(shape: tuple[int, ...]) -> str:
    """Format a shape, as `12 × 256`."""
    return " × ".join(f"{size:,}" for size in shape)


def step_sentences(scene: Scene, box: Box, steps: Sequence[SearchStep]) -> tuple[str, ...]:
    """Return what a box does: once in the encoder; in the decoder for each subword in `WINDOW`."""
    if box.stack == "encoder":
        return (_sentence(scene, box, None),)
    if box.name == "decoder.softmax":
        return tuple(map(_softmax, steps[:WINDOW]))
    return tuple(_sentence(scene, box, row) for row in range(min(len(steps), WINDOW)))


def _sentence(scene: Scene, box: Box, row: int | None) -> str:
    """Return what a box does at one row of the decoder, or None for all rows of the encoder."""
    trace, tensors = scene.trace, scene.tensors
    d_model = f"{scene.model.config.d_model:,} numbers"
    read, written = (
        quoted(display_tokens(tokens)[row or 0])
        for tokens in (trace.decoder_tokens, trace.target_tokens)
    )

    match box.name.partition(".")[2]:
        case "tokens" if row is None:
            tokens = counted(len(trace.source_tokens), "subword")
            text = f"The sentence enters as {tokens}; the last one marks its end."
        case "tokens" if row == 0:
            text = f"The decoder starts with {read}, before anything is written."
        case "tokens":
            tokens = counted((row or 0) + 1, "token")
            text = f"{read} comes back to the bottom: the decoder now reads {tokens}."
        case "embedding":
            token = "Each subword" if row is None else read
            text = f"{token} takes its row of the table: {d_model}."
        case "positions":
            place = "Each position" if row is None else f"Position {row + 1}"
            text = f"{place} has a pattern: {d_model}."
        case "sum":
            text = "Subword and position are added, number by number."
        case "feed_forward":
            hidden = tensors.values[box.inside[0][1].format(scene.layer(box))]
            zeros = float(np.mean((hidden if row is None else hidden[row]) == 0))
            relu = f" (the ReLU sets {per_cent(zeros)} of them to 0)"
            hidden_size = f"{hidden.shape[-1]:,}{relu * (scene.model.config.activation == 'relu')}"
            text = f"{d_model} become {hidden_size}, then {d_model} again."
        case "linear":
            column = tensors.columns.index(trace.target_pieces[row or 0].text)
            logit = format_number(float(tensors.values[LOGITS][row or 0, column]), 1)
            text = f"{d_model} become {tensors.vocab_size:,}, one for each subword: "
            text += f"{written} gets {logit}."
        case _ if box.kind:
            text = _attention(scene, box, row)
        case _:
            text = "The sub-layer's output is added to its input. Then each token's numbers get "
            text += "mean 0 and variance 1, times a gain, plus a bias."
    return text


def _attention(scene: Scene, box: Box, row: int | None) -> str:
    """Return where the head looks that gives most weight to a word other than the one it reads."""
    weights, trace = scene.values(box), scene.trace
    assert weights is not None  # [head, query, key]
    assert box.kind
    labels = trace.labels(box.kind)
    queries, keys = display_tokens(labels.queries), display_tokens(labels.keys)
    if box.kind == "decoder_self" and row == 0:
        heads = counted(len(weights), "head")
        return f"Only {quoted(keys[0])} is visible: each of {heads} gives it {per_cent(1)}."
    rows = range(len(queries)) if row is None else [row]
    allowed = np.zeros_like(weights, dtype=bool)
    allowed[:, rows] = ~sinks.are_sinks(labels.keys, trace.special)
    if box.kind != "cross":
        allowed[:, range(len(keys)), range(len(keys))] = False
    on = " on another word" if box.kind != "cross" else ""
    if not (weights * allowed).any():  # no such word is in sight
        on, allowed[:, rows] = "", True
    looked = np.where(allowed, weights, -1)
    head, query, key = np.unravel_index(int(looked.argmax()), looked.shape)
    share, name = per_cent(float(looked.max())), f"head {head + 1} of {len(weights)}"
    if box.kind == "cross":
        return (
            f"{capitalised(name)} looks at {quoted(keys[key])} in the encoder's output ({share})."
        )
    gives = f"{quoted(queries[query])} gives {quoted(keys[key])} {share} ({name})"
    return f"The largest weight{on}: {gives}."


def _softmax(step: SearchStep) -> str:
    names = map(quoted, display_tokens([piece for piece, _ in step.options]))
    options = [
        (name, format_probability(min(p, 1.0)))
        for name, (_, p) in zip(names, step.options, strict=True)
    ]
    (best, largest), (written, p) = options[0], options[step.taken]
    if step.taken == 0:
        return f"{written} is the most probable next subword: {p}."
    return f"{best} is more probable ({largest}), but the translation goes on with {written} ({p})."


VIEW, BOX = "arch_view", "arch_box"  # names in the URL
NORMS = "batch or layer"  # the view of norms


@view("drawing", needs="trace")
def figure_1(bar: BarTranslation) -> None:
    """Draw Figure 1 at work, and the open box beside it."""
    model, trace = bar.translator.model, bar.trace
    tensors = compute("tensors", flow, model, trace)
    boxes = {box.name: box for box in model_boxes(model.config, trace.languages)}
    counts = {"encoder": model.config.N, "decoder": model.config.decoder.N}
    headings = {box.heading: name for name, box in boxes.items()}
    with controls().popover("Options"):
        # a stack of fewer layers is drawn at its last one
        layer = pick_layer(LAYER, max(counts.values()))
        first = list(boxes).index("encoder.self_attention")
        heading = fields.menu("Open box", list(headings), BOX, width=380, index=first)
        opened = headings[heading]
    layers = {stack: min(layer, count - 1) for stack, count in counts.items()}
    scene = Scene(model, trace, tensors, layers, bar.origin)
    steps: list[SearchStep] = []
    with suppress(HeadlightError):  # where the model cannot have written the translation
        steps = search_steps(player.score_translation(bar))
    written = counted(len(steps), "subword")
    last = f"{written}: the encoder ran once, the decoder once for each of them."
    if len(steps) > WINDOW:
        last = f"The player stops here, after {WINDOW} of {written}."
    sentences = memo_per_trace(
        trace,
        ("architecture.sentences", *layers.values()),
        lambda: {name: step_sentences(scene, box, steps) for name, box in boxes.items()},
    )

    def open_box(name: str) -> None:
        st.session_state[BOX] = boxes[name].heading

    drawn = []
    for name, box in boxes.items():
        shape, values = scene.shape(box), scene.values(box)
        label = f"{scene.name_with_layer(spoken_name(box), box)}: {shape}"
        parts = box.title, shape, label, values, box.kind, sentences[name], box.paper
        drawn.append(DrawnBox(name, *parts))
    picture, details = st.columns([2, 1], gap="large")
    shown = ", ".join(f"{stack} {layer + 1}" for stack, layer in layers.items())
    with picture:
        data = encode_architecture(
            drawn,
            layers=counts,
            layer=layers,
            selected=opened,
            opens="arch-opened",
            playing=Playing(trace, steps, last, BOX not in st.query_params) if steps else None,
            caption=scene.origin.caption(f"layers {shown}."),
        )
        mounts.mount_choice(
            "arch-drawing", data, lambda sent: next((n for n in boxes if n == sent), None), open_box
        )
    with details, st.container(key="arch-side"):
        _open_box(scene, boxes[opened])
    explanations.explain(
        "*Play* lights the boxes in order, for one subword after the other. Click a box to open "
        "it, with the numbers of your sentence and its translation. A line that bypasses a box is "
        "a residual connection: it adds the input to the output. The line between the stacks "
        "carries the encoder's output to each decoder layer. Dots: layers that are not drawn."
        + explanations.sources("§3.1, Figure 1", Transformer.forward)
    )


def spoken_name(box: Box) -> str:
    """Return the text on the box and its heading, for speech control and screen readers."""
    included = box.title.lower() in box.heading.lower()
    return box.heading if included else f"{box.title}, {box.heading}"


def _open_box(scene: Scene, box: Box) -> None:
    tensors = scene.tensors.values
    if scene.values(box) is not None:
        part("output", tensors, box.value.format(scene.layer(box)))
    with st.container(key="arch-opened"):
        st.subheader(scene.name_with_layer(box.heading, box), anchor=False)
    st.latex(box.equation)
    if is_norm := box.name.endswith("_norm"):
        name = box.module.format(scene.layer(box))
        before = part("before", tensors, f"{name}.hook_sum")
        show_token(scene.model, name, before, scene.rows(box))
    st.markdown(box.text)
    if is_norm:
        fields.button(
            "Why not batch normalisation? →", "to-norms", st.session_state.update, {VIEW: NORMS},
            type="tertiary",
        )  # fmt: skip
    facts = _facts(scene, box)
    # in two narrow columns, without text of the user
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    with st.container(key="arch-facts"):
        st.markdown(f"| | |\n|---|---:|\n{rows}")
    with st.container(key="arch-code"):
        st.markdown(explanations.sources(box.paper, *box.code).strip())
    # at the same layer and kind
    url = {HEAD.layer: f"{scene.layer(box) + 1}", KIND: SCREEN_NAMES[box.kind]} if box.kind else {}
    with st.container(gap=None):
        for path in box.pages:
            navigation.link(path, _LINK_ACTIONS[path], {**url, **_LINK_CHOICES.get(path, {})})
    _picture(scene, box)


def _picture(scene: Scene, box: Box) -> None:
    values, trace = scene.values(box), scene.trace
    if box.stack == "decoder":
        verb = "predicts" if box.kind == "cross" or box.value in OVER_VOCABULARY else "reads"
        st.caption(f"Each row is one step of the decoder, named by the token it {verb}.")
    if values is None:
        st.text(" ".join(display_tokens(scene.rows(box))))
    elif box.kind:
        axes, heads = MapAxes.of(trace, box.kind), counted(len(values), "head")
        encode = partial(
            encode_map,
            values.mean(0),
            axes,
            title=f"L{scene.layer(box) + 1}, mean of {heads} · {SCREEN_NAMES[box.kind]}",
            caption=scene.origin.caption(head_caption(box.kind, scene.layer(box), None)),
        )
        mounts.mount_map("arch-map", axes.labels, encode)
    else:
        data = encode_strip(
            values,
            scene.rows(box),
            title=scene.name_with_layer(box.heading, box),
            columns=scene.tensors.columns if box.value in OVER_VOCABULARY else None,
            caption=scene.origin.caption(f"{scene.name_with_layer(box.heading, box)}."),
        )
        mounts.mount("arch-tensor", data)


def _facts(scene: Scene, box: Box) -> dict[str, str]:
    """Return the shapes of the values and parameters of a box, and how many parameters it has."""
    model, layer = scene.model, scene.layer(box)
    inside = {name: scene.tensors.values[hook.format(layer)] for name, hook in box.inside}
    facts = {name: times(value.shape) for name, value in inside.items()}
    if "hidden" in inside and model.config.activation == "relu":
        zeros = float(np.mean(inside["hidden"] == 0))
        facts["hidden"] += f", {zeros:.0%} set to 0 by the ReLU"
    facts["weights" if box.kind else "out"] = scene.shape(box)
    name = box.module.format(layer)
    if "hidden" in inside:
        facts["as two convolutions"] = _as_convolutions(scene, box)
    if not name:
        return facts | {"parameters": "none"}
    if name == "shared_embedding" and box.stack == "encoder" and model.source_embedding is not None:
        name = "source_embedding"
    if name.endswith(".positions") and model.config.positions == "sinusoidal":
        return facts | {"parameters": "none: a formula"}
    shapes = costs.parameter_shapes(model, name)
    if box.value == LOGITS and model.output_bias is not None:
        shapes = {**shapes, **costs.parameter_shapes(model, "output_bias")}
    if name not in shapes:
        facts |= {matrix: times(shape) for matrix, shape in shapes.items()}
    return facts | {"parameters": f"{sum(int(np.prod(x)) for x in shapes.values()):,}"}


def _as_convolutions(scene: Scene, box: Box) -> str:
    """Compare a feed-forward network with two convolutions."""
    layer, values = scene.layer(box), scene.tensors.values
    network: Any = scene.model.get_submodule(box.module.format(layer))
    before = "self_attention" if box.stack == "encoder" else "cross_attention"
    x = values[f"{box.stack}.layers.{layer}.{before}_norm.hook_normalised"]
    off = float(np.abs(by_convolutions(network, x) - values[box.value.format(layer)]).max())
    return f"largest difference {off:.0e}" if off else "equal"


_LINK_CHOICES = {
    "masks": {"mask-view": "who sees whom"},
    "positions": {"pe_view": "Encoding"},
    "translate": {"translate_view": "Almost written"},
}
"""The view that a link opens, on pages that open on another one."""

_LINK_ACTIONS = {
    "heads": "See every head of this layer",
    "inside": "Follow one head step by step",
    "masks": "See which tokens each position may see",
    "positions": "See how the model knows the order of words",
    "training": "See when the heads formed",
    "translate": "See what else was probable",
}
