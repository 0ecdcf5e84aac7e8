"""Figure 1 with the tensors of the sentence, and one open box beside it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, Transformer, TransformerConfig
from transformer.analysis.axes import by_pieces
from transformer.analysis.paper.counting import parameter_shapes
from transformer.analysis.paper.flow import LOGITS, PROBABILITIES, Flow, flow
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.explanations import code_line, explain
from viz.app.chrome.head_picker import HEAD, KIND, pick_layer
from viz.app.chrome.mounts import mount, mount_architecture
from viz.app.links import navigation
from viz.app.sentence import sentence_bar
from viz.app.sentence.origin import origin_of
from viz.draw.architecture import DrawnBox, encode_architecture, encode_strip
from viz.draw.attention_map import encode_map
from viz.draw.caption import head_caption
from viz.draw.formatting import counted
from viz.draw.labels import SCREEN_NAMES, display_tokens
from viz.pages.architecture.boxes import BY_HEADING, BY_NAME, Box, model_boxes
from viz.pages.architecture.norms import LAYER, NAMES, NORM, short

BOX = "arch_box"
"""Name in the URL of the open box."""
VIEW = "arch_view"
"""Name in the URL of the view of the page."""

NORMS = "norms"
"""The view in which a norm is explained."""

FIRST = "encoder.self_attention"
_OVER_VOCABULARY = (LOGITS, PROBABILITIES)


def show(row: DeltaGenerator) -> None:
    """Draw the view, its controls into the given row."""
    if (bar := sentence_bar.traced()) is None:
        return
    model, trace = bar.translator.model, bar.trace
    tensors = memo_per_trace(trace, "architecture.flow", lambda: flow(model, trace))
    boxes = {box.name: box for box in model_boxes(model.config, trace.languages)}
    with row:
        layer, opened = _controls(model.config.N)
    box = boxes[opened]
    picture, details = st.columns([2, 1], gap="large")
    with picture:
        data = encode_architecture(
            [_drawn(box, tensors, trace, layer) for box in boxes.values()],
            layers=model.config.N,
            layer=layer,
            selected=box.name,
            opens="arch-opened",
            caption=origin_of(trace).caption(),
        )
        mount_architecture("arch-drawing", data, boxes, _open)
    with details:
        _open_box(box, model, tensors, trace, layer)
    explain(
        "Figure 1 with the tensors of this sentence in it, from one pass of the model over the "
        "sentence and its translation; each box opens. The lines past a sub-layer are the residual "
        "connections of §3.1, the line between the stacks carries the encoder's output to each "
        f"layer of the decoder: {code_line(Transformer.forward)}."
    )


def _controls(layers: int) -> tuple[int, str]:
    """Draw the menus; return the layer, from 0, and the name of the open box."""
    layer = pick_layer(LAYER, layers)
    heading = st.selectbox(
        "Open box",
        list(BY_HEADING),
        index=list(BY_HEADING).index(BY_NAME[FIRST].heading),
        key=BOX,
        bind="query-params",
        width=380,
    )
    return layer, BY_HEADING[heading].name


def _open(name: str) -> None:
    """Set the menu to the box that was clicked in the drawing."""
    st.session_state[BOX] = BY_NAME[name].heading


def _drawn(box: Box, tensors: Flow, trace: AttentionTrace, layer: int) -> DrawnBox:
    values = tensors.values.get(box.value.format(layer))
    shape = _shape(box, tensors, trace, layer)
    return DrawnBox(
        name=box.name,
        title=box.title,
        shape=shape,
        label=f"{spoken_name(box)}{_layer_text(box, layer)}: {shape}",
        values=values,
        kind=box.kind,
    )


def spoken_name(box: Box) -> str:
    """Return the text on the box and its heading, for speech control and screen readers."""
    included = box.title.lower() in box.heading.lower()
    return box.heading if included else f"{box.title}, {box.heading}"


def _layer_text(box: Box, layer: int) -> str:
    return f", layer {layer + 1}" if box.layered else ""


def _shape(box: Box, tensors: Flow, trace: AttentionTrace, layer: int) -> str:
    """Format the shape of a box's output, as `12 × 256`."""
    values = tensors.values.get(box.value.format(layer))
    if values is None:
        return f"{len(_rows(box, trace))} tokens"
    if box.value in _OVER_VOCABULARY:
        return f"{len(values)} × {tensors.vocab_size:,}"
    return _times(values.shape)


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape)


def _rows(box: Box, trace: AttentionTrace) -> tuple[str, ...]:
    """Return the tokens of a box's rows: those read, and in the last two boxes those written."""
    if box.stack == "encoder":
        return trace.source_tokens
    return trace.target_tokens if box.value in _OVER_VOCABULARY else trace.decoder_tokens


def _open_box(
    box: Box, model: Transformer, tensors: Flow, trace: AttentionTrace, layer: int
) -> None:
    """Draw the open box: equation, text, shapes, parameters, code, links and picture."""
    with st.container(key="arch-opened"):
        st.subheader(f"{box.heading}{_layer_text(box, layer)}", anchor=False)
    st.latex(box.equation)
    st.markdown(box.text)
    _facts(_shapes(box, tensors, trace, layer, model.config) | _parameters(box, model, layer))
    with st.container(key="arch-code"):
        st.markdown(", ".join(code_line(function) for function in box.code))
    _links(box, layer)
    _picture(box, tensors, trace, layer)


def _picture(box: Box, tensors: Flow, trace: AttentionTrace, layer: int) -> None:
    values = tensors.values.get(box.value.format(layer))
    if box.stack == "decoder":
        verb = "writes" if box.kind == "cross" or box.value in _OVER_VOCABULARY else "reads"
        st.caption(
            "Each row of the decoder reads one token and writes the next; here it is named by "
            f"what it {verb}."
        )
    if values is None:
        st.text(" ".join(display_tokens(_rows(box, trace))))
    elif box.kind:
        axes, heads = by_pieces(trace, box.kind), counted(len(values), "head")
        data = encode_map(
            values.mean(0),
            axes.labels,
            box.kind,
            languages=trace.languages,
            reads=axes.reads,
            writes=axes.writes,
            title=f"L{layer + 1}, mean of {heads} · {SCREEN_NAMES[box.kind]}",
            caption=origin_of(trace).caption(head_caption(box.kind, layer, None)),
        )
        mount("arch-map", data)
    else:
        data = encode_strip(
            values,
            _rows(box, trace),
            title=box.heading,
            columns=tensors.columns if box.value in _OVER_VOCABULARY else None,
            caption=origin_of(trace).caption(f"{box.heading}{_layer_text(box, layer)}."),
        )
        mount("arch-tensor", data)


def _shapes(
    box: Box, tensors: Flow, trace: AttentionTrace, layer: int, config: TransformerConfig
) -> dict[str, str]:
    inside = {name: tensors.values[hook.format(layer)] for name, hook in box.inside}
    shapes = {name: _times(value.shape) for name, value in inside.items()}
    if "hidden" in inside and config.activation == "relu":
        zeros = float(np.mean(inside["hidden"] == 0))
        shapes["hidden"] += f", of which the ReLU makes {zeros:.0%} zero"
    return shapes | {"weights" if box.kind else "out": _shape(box, tensors, trace, layer)}


def _parameters(box: Box, model: Transformer, layer: int) -> dict[str, str]:
    if not box.module:
        return {"parameters": "none"}
    name = box.module.format(layer)
    if name == "shared_embedding" and box.stack == "encoder" and model.source_embedding is not None:
        name = "source_embedding"
    if name.endswith(".positions") and model.config.positions == "sinusoidal":
        return {"parameters": "none: a formula"}
    shapes = parameter_shapes(model, name)
    if box.value == LOGITS and model.output_bias is not None:
        shapes = {**shapes, **parameter_shapes(model, "output_bias")}
    total = sum(int(np.prod(shape)) for shape in shapes.values())
    listed = {} if name in shapes else {matrix: _times(shape) for matrix, shape in shapes.items()}
    return listed | {"parameters": f"{total:,}"}


def _facts(facts: Mapping[str, str]) -> None:
    """Draw names and values in two narrow columns, without text of the reader."""
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    with st.container(key="arch-facts"):
        st.markdown(f"| | |\n|---|---:|\n{rows}")


def _links(box: Box, layer: int) -> None:
    """Draw links to the pages that explain the box, at the same layer and kind."""
    if short(box) in NAMES:
        st.button(
            "Norms: layer norm against batch norm, here",
            type="tertiary",
            on_click=_to_norms,
            args=(short(box),),
        )
    choices = {HEAD.layer: str(layer + 1)}
    if box.kind:
        choices[KIND] = SCREEN_NAMES[box.kind]
    with st.container(gap=None):
        for path in box.pages:
            navigation.link(path, _LINK_REASONS[path], choices if box.kind else {})


def _to_norms(name: str) -> None:
    st.session_state[VIEW], st.session_state[NORM] = NORMS, name


_LINK_REASONS = {
    "heads": "every head of this layer",
    "inside": "the arithmetic of one of them",
    "masks": "who may see whom, and the shift right",
    "positions": "the waves and what they tell",
    "training": "how these numbers were learnt",
    "translate": "what else could have stood here",
}
