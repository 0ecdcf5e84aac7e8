"""Figure 1 with the tensors of the sentence, and one open box beside it."""

from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import HeadlightError, Transformer
from transformer.analysis.axes import by_pieces
from transformer.analysis.paper.costs import parameter_shapes
from transformer.analysis.paper.flow import LOGITS, flow
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome import explanations, fields, mounts
from viz.app.chrome.head_picker import HEAD, KIND, pick_layer
from viz.app.links import navigation
from viz.app.sentence import python_code, sentence_bar
from viz.app.sentence.player import scored, search_steps
from viz.app.sentence.sentence_bar import origin_of
from viz.draw import attention_map, formatting, labels
from viz.draw.architecture import DrawnBox, Playing, encode_architecture, encode_strip
from viz.draw.caption import head_caption
from viz.draw.player import SearchStep
from viz.pages.architecture.boxes import BY_HEADING, BY_NAME, Box, model_boxes
from viz.pages.architecture.norms import LAYER, NAMES, NORM, short
from viz.pages.architecture.step_sentences import (
    OVER_VOCABULARY,
    Scene,
    last_sentence,
    step_sentences,
    times,
)

BOX = "arch_box"
"""Name in the URL of the open box."""
VIEW = "arch_view"
"""Name in the URL of the view of the page."""

NORMS = "norms"
"""The view in which a norm is explained."""

FIRST = "encoder.self_attention"


def show(row: DeltaGenerator) -> None:
    """Draw the view, its controls into the given row."""
    if (bar := sentence_bar.traced()) is None:
        return
    model, trace = bar.translator.model, bar.trace
    tensors = memo_per_trace(trace, "architecture.flow", lambda: flow(model, trace))
    boxes = {box.name: box for box in model_boxes(model.config, trace.languages)}
    counts = {"encoder": model.config.N, "decoder": model.config.decoder.N}
    headings = list(BY_HEADING)
    with row.popover("Options"):
        # a stack of fewer layers is drawn at its last one
        layer = pick_layer(LAYER, max(counts.values()))
        first = headings.index(BY_NAME[FIRST].heading)
        opened = BY_HEADING[fields.menu("Open box", headings, BOX, width=380, index=first)].name
    layers = {stack: min(layer, count - 1) for stack, count in counts.items()}
    scene = Scene(model, trace, tensors, layers)
    steps = _steps()
    sentences = memo_per_trace(
        trace,
        ("architecture.sentences", *layers.values()),
        lambda: {name: step_sentences(scene, box, steps) for name, box in boxes.items()},
    )

    def open_box(name: str) -> None:
        st.session_state[BOX] = BY_NAME[name].heading

    def box_name(sent: object) -> str | None:
        return sent if isinstance(sent, str) and sent in boxes else None

    picture, details = st.columns([2, 1], gap="large")
    shown = ", ".join(f"{stack} {layer + 1}" for stack, layer in layers.items())
    with picture:
        data = encode_architecture(
            [_drawn(scene, box, sentences[name]) for name, box in boxes.items()],
            layers=counts,
            layer=layers,
            selected=opened,
            opens="arch-opened",
            playing=Playing(trace, steps, last_sentence(steps), BOX not in st.query_params)
            if steps
            else None,
            caption=origin_of(trace).caption(f"layers {shown}."),
        )
        mounts.mount_choice("arch-drawing", data, box_name, open_box)
    with details:
        _open_box(scene, boxes[opened])
    explanations.explain(
        "*Play* lights the boxes in order, for one subword after the other. Click a box to open "
        "it, with the numbers of your sentence and its translation. A line that bypasses a box is "
        "a residual connection: it adds the input to the output. The line between the stacks "
        "carries the encoder's output to each decoder layer. Dots: layers that are not drawn."
        + explanations.sources("§3.1, Figure 1", Transformer.forward)
    )
    box = boxes[opened]
    output = f"flow(translator.model, trace).values[{box.value.format(scene.layer(box))!r}]"
    if scene.values(box) is None:
        output = f"trace.{box.stack.replace('encoder', 'source')}_tokens"
    python_code.show_code(f"# {scene.named(box.heading, box)}\nresult = {output}")


def _steps() -> list[SearchStep]:
    """Return what was probable at each step; nothing where the model cannot have written it."""
    bar = sentence_bar.drawn_from()
    try:
        return search_steps(bar, scored(bar), None)
    except HeadlightError:
        return []


def _drawn(scene: Scene, box: Box, sentences: tuple[str, ...]) -> DrawnBox:
    shape = scene.shape(box)
    label = f"{scene.named(spoken_name(box), box)}: {shape}"
    values = scene.values(box)
    return DrawnBox(box.name, box.title, shape, label, values, box.kind, sentences, box.paper)


def spoken_name(box: Box) -> str:
    """Return the text on the box and its heading, for speech control and screen readers."""
    included = box.title.lower() in box.heading.lower()
    return box.heading if included else f"{box.title}, {box.heading}"


def _open_box(scene: Scene, box: Box) -> None:
    """Draw the open box: equation, text, shapes, parameters, code, links and picture."""
    with st.container(key="arch-opened"):
        st.subheader(scene.named(box.heading, box), anchor=False)
    st.latex(box.equation)
    st.markdown(box.text)
    facts = _shapes(scene, box) | _parameters(scene, box)
    # in two narrow columns, without text of the user
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    with st.container(key="arch-facts"):
        st.markdown(f"| | |\n|---|---:|\n{rows}")
    with st.container(key="arch-code"):
        st.markdown(explanations.sources(box.paper, *box.code).strip())
    _links(box, scene.layer(box))
    _picture(scene, box)


def _picture(scene: Scene, box: Box) -> None:
    values, trace = scene.values(box), scene.trace
    if box.stack == "decoder":
        verb = "predicts" if box.kind == "cross" or box.value in OVER_VOCABULARY else "reads"
        st.caption(f"Each row is one step of the decoder, named by the token it {verb}.")
    if values is None:
        st.text(" ".join(labels.display_tokens(scene.rows(box))))
    elif box.kind:
        axes, heads = by_pieces(trace, box.kind), formatting.counted(len(values), "head")
        encode = partial(
            attention_map.encode_map,
            values.mean(0),
            axes.labels,
            box.kind,
            languages=trace.languages,
            reads=axes.reads,
            writes=axes.writes,
            title=f"L{scene.layer(box) + 1}, mean of {heads} · {labels.SCREEN_NAMES[box.kind]}",
            caption=origin_of(trace).caption(head_caption(box.kind, scene.layer(box), None)),
        )
        mounts.mount_map("arch-map", axes.labels, encode)
    else:
        data = encode_strip(
            values,
            scene.rows(box),
            title=box.heading,
            columns=scene.tensors.columns if box.value in OVER_VOCABULARY else None,
            caption=origin_of(trace).caption(f"{scene.named(box.heading, box)}."),
        )
        mounts.mount("arch-tensor", data)


def _shapes(scene: Scene, box: Box) -> dict[str, str]:
    layer = scene.layer(box)
    inside = {name: scene.tensors.values[hook.format(layer)] for name, hook in box.inside}
    shapes = {name: times(value.shape) for name, value in inside.items()}
    if "hidden" in inside and scene.model.config.activation == "relu":
        zeros = float(np.mean(inside["hidden"] == 0))
        shapes["hidden"] += f", {zeros:.0%} set to 0 by the ReLU"
    return shapes | {"weights" if box.kind else "out": scene.shape(box)}


def _parameters(scene: Scene, box: Box) -> dict[str, str]:
    model, name = scene.model, box.module.format(scene.layer(box))
    if not name:
        return {"parameters": "none"}
    if name == "shared_embedding" and box.stack == "encoder" and model.source_embedding is not None:
        name = "source_embedding"
    if name.endswith(".positions") and model.config.positions == "sinusoidal":
        return {"parameters": "none: a formula"}
    shapes = parameter_shapes(model, name)
    if box.value == LOGITS and model.output_bias is not None:
        shapes = {**shapes, **parameter_shapes(model, "output_bias")}
    total = sum(int(np.prod(shape)) for shape in shapes.values())
    listed = {} if name in shapes else {matrix: times(shape) for matrix, shape in shapes.items()}
    return listed | {"parameters": f"{total:,}"}


def _links(box: Box, layer: int) -> None:
    """Draw links to the pages that explain the box, at the same layer and kind."""
    if (name := short(box)) in NAMES:

        def to_norms() -> None:
            st.session_state[VIEW], st.session_state[NORM] = NORMS, name

        label = "Compare layer norm with batch norm"
        st.button(label, type="tertiary", on_click=to_norms)
    choices = {HEAD.layer: str(layer + 1), KIND: labels.SCREEN_NAMES[box.kind]} if box.kind else {}
    with st.container(gap=None):
        for path in box.pages:
            navigation.link(path, _LINK_ACTIONS[path], choices)


_LINK_ACTIONS = {
    "heads": "See every head of this layer",
    "inside": "Follow one head step by step",
    "masks": "See which tokens each position may see",
    "positions": "See how the model knows the order of words",
    "training": "See when the heads formed",
    "translate": "See what else was probable",
}
