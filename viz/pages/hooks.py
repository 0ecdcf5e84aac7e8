"""The page “Hooks”: the hook points of a layer, with its values on the sentence in the bar."""

from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from transformer import AttentionTrace, Transformer
from transformer.analysis.teacher_forcing import forced_pair
from transformer.hooks import Hooked
from transformer.kinds import kind_of
from transformer.paper import hook_points
from transformer.paper.flow import flow
from viz.app.chrome import explanations, fields, head_picker, mounts
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Page, cached, compute, controls, view
from viz.draw import attention_map, labels
from viz.draw.architecture import DrawnBox, encode_architecture, encode_strip
from viz.draw.caption import Origin, head_caption
from viz.draw.formatting import counted

BOX, POINT = "hooks_box", "hook"  # names in the URL

_FOOT = ("tokens", "embedding", "positions", "sum", "self_attention", "self_attention_norm")
_CROSS, _TOP = ("cross_attention", "cross_attention_norm"), ("feed_forward", "feed_forward_norm")
BOXES = (
    *(f"encoder.{name}" for name in (*_FOOT, *_TOP)),
    *(f"decoder.{name}" for name in (*_FOOT, *_CROSS, *_TOP, "linear", "softmax")),
)
"""The boxes of Figure 1, in the order of the drawing."""

WITHOUT = {
    "tokens": "No hook point: these are the ids that you give to the model.",
    "linear": "No hook point: these are the logits that `model(source, target)` returns.",
    "softmax": "No hook point: `logits.softmax(-1)` gives these probabilities.",
}

MEANINGS = {
    "tokens": "rows of the embedding, times √d_model where the model scales them",
    "positions": "the encoding of each position, before it is added",
    "mask": "1 where a query may see a key; one mask for all heads",
    "q": "queries of one head, $xW_i^Q$",
    "k": "keys of one head, $xW_i^K$",
    "v": "values of one head, $xW_i^V$",
    "attn_scores": r"$QK^\top/\sqrt{d_k}$, −∞ where the mask hides a key",
    "pattern": "attention weights: the softmax of the scores",
    "z": "output of one head: weights times values",
    "result": "what one head adds to the residual stream, $zW_i^O$",
    "hidden": "between the two linear maps, after the activation",
    "sublayer": "output of the sub-layer, before it is added",
    "sum": "input plus output of the sub-layer, before the norm",
    "normalised": "what the next sub-layer reads",
}


class Scene(NamedTuple):
    """The choices of the page."""

    model: Transformer
    trace: AttentionTrace
    layers: dict[str, int]  # of each stack, from 0
    points: dict[str, list[str]]  # hook points of each box
    origin: Origin


@view(needs="trace")
def hook_points_of_a_layer(bar: BarTranslation) -> None:
    """Draw the boxes of Figure 1 with their hook points, and the value at one of them."""
    model, trace = bar.translator.model, bar.trace
    stacks = {"encoder": model.config, "decoder": model.config.decoder}
    deepest, widest = (max(getattr(s, size) for s in stacks.values()) for size in ("N", "h"))
    headings = {heading(name): name for name in BOXES}
    with controls():
        layer, head = head_picker.pick_layer_and_head(head_picker.HEAD, deepest, widest, (0, 0))
        first = BOXES.index("encoder.self_attention")
        box = headings[fields.menu("Box", list(headings), BOX, width=330, index=first)]
        st.text("At a hook point, your function gets a tensor, and may return another.")
    layers = {name: min(layer, stack.N - 1) for name, stack in stacks.items()}
    head = min(head, stacks[box.partition(".")[0]].h - 1)
    scene = Scene(model, trace, layers, hook_points.layer_points(model, layers), bar.origin)
    picture, details = st.columns([3, 2], gap="large")
    with picture:
        _draw(scene, box)
    with details, st.container(key="hooks-opened", gap="small"):
        st.subheader(heading(box), anchor=False)
        if (names := scene.points.get(box)) is None:
            st.markdown(WITHOUT[box.partition(".")[2]])
        else:
            _draw_hook_point(scene, box, names, head)
    explanations.explain(
        "Each box lists its hook points. They are always in the model, and every trace in this app "
        "is read at `hook_pattern`. Your hooks are private to you, even if others use the same "
        "model. Click a box to see its values; they change with the sentence. `translator` and "
        "`pair` are defined in the Python below."
        + explanations.sources("§3.1, Figure 1", Hooked.hooks, Hooked.run_with_cache)
    )


def title(box: str) -> str:
    """Return the text on a box."""
    if box.endswith("_norm"):
        return "Add & norm"
    name = box.partition(".")[2].replace("_attention", "-attention").replace("_", " ")
    return "Masked self-attention" if box == "decoder.self_attention" else name.capitalize()


def heading(box: str) -> str:
    """Name a box by its stack, an Add & norm also by what comes before it."""
    after = f" after {title(box.removesuffix('_norm')).lower()}" if box.endswith("_norm") else ""
    return f"{title(box)}{after} of the {box.partition('.')[0]}"


def _draw(scene: Scene, opened: str) -> None:
    model, trace, layers, points, origin = scene
    tensors = cached(flow, model, trace)
    drawn = []
    for box in BOXES:
        own = {hook_points.value_name(point): point for point in points.get(box, [])}
        shape = counted(len(own), "hook point") if "pattern" in own else " · ".join(own)
        shown = own.get("pattern", next(reversed(own.values()), ""))
        # the output of the feed-forward network passes a hook point where it is added
        shown = shown.replace(".hook_hidden", "_norm.hook_sublayer")
        label = f"{heading(box)}: {', '.join(own.values()) or 'no hook point'}"
        values, kind = tensors.values.get(shown), kind_of(shown) if "pattern" in own else None
        drawn.append(DrawnBox(box, title(box), shape, label, values, kind))
    data = encode_architecture(
        drawn,
        layers={"encoder": model.config.N, "decoder": model.config.decoder.N},
        layer=layers,
        selected=opened,
        opens="hooks-opened",
        caption=origin.caption("hook points of one layer."),
    )

    def open_box(box: str) -> None:
        st.session_state[BOX] = heading(box)

    mounts.mount_choice(
        "hooks-drawing", data, lambda sent: next((b for b in BOXES if b == sent), None), open_box
    )


def _draw_hook_point(scene: Scene, box: str, names: list[str], head: int) -> None:
    """Draw the chosen hook point of a box: shape, values, and the code that reads and edits it."""
    model, trace = scene.model, scene.trace
    by_value = {hook_points.value_name(name): name for name in names}
    usual = "pattern" if "pattern" in by_value else next(iter(by_value))
    if st.session_state.get(POINT) not in by_value:  # another box was open
        st.session_state.pop(POINT, None)
    point = by_value[fields.choose_one("Hook point", by_value, POINT, default=usual)]
    pair = compute("pair", forced_pair, model, trace)
    value = compute("value", hook_points.value_at, model, pair, point)
    named = hook_points.axes(point)
    has_heads = named[1] == "head"
    meaning = MEANINGS[hook_points.value_name(point)]
    if box.endswith(".sum"):
        meaning = "token plus position: what the first layer reads"
    sizes = ", ".join(f"{axis} {size:,}" for axis, size in zip(named, value.shape, strict=True))
    st.markdown(f"{meaning}  \n`[{sizes}]`")
    own_head = min(head, value.shape[1] - 1)
    shown = value[0, own_head] if has_heads else value[0]
    at = f"[0, {own_head}]" if has_heads else "[0]"
    edit = hook_points.example_edit(point, head)
    read = (
        f"_, seen = translator.model.run_with_cache(pair.source, pair.target)\n"
        f'value = seen["{point}"]{at}'
    )
    change = (
        f'with translator.model.hooks({{"{point}": lambda value, name: {edit}}}):\n'
        f"    logits = translator.model(pair.source, pair.target)"
    )
    st.code(read, language="python", wrap_lines=True)
    _values(scene, point, shown, head)
    st.code(change, language="python", wrap_lines=True)


def _values(scene: Scene, point: str, shown: np.ndarray, head: int) -> None:
    """Draw the values of a sentence at a hook point, those of one head if it has heads."""
    trace, kind, named = scene.trace, kind_of(point), hook_points.axes(point)
    layer = scene.layers[point.partition(".")[0]]
    caption = scene.origin.caption(f"{point}, layer {layer + 1}.")
    if kind is None or named[1] != "head":
        encoder = point.startswith("encoder")
        rows = trace.source_tokens if encoder else trace.decoder_tokens
        data = encode_strip(shown, rows, title=point, caption=caption)
    elif hook_points.value_name(point) == "pattern":
        axes = attention_map.MapAxes.of(trace, kind)
        encode = partial(
            attention_map.encode_map,
            shown,
            axes,
            title=labels.head_title(kind, layer, head),
            caption=scene.origin.caption(head_caption(kind, layer, head)),
        )
        mounts.mount_map("hooks-map", axes.labels, encode)
        return
    else:
        queries, keys = trace.labels(kind)
        rows = keys if named[2] == "key" else queries
        if len(shown) < len(rows):  # the encoder's mask has one row
            rows = ("all queries",)
        columns = keys if named[3] == "key" else None
        values = shown.astype(np.float32)
        data = encode_strip(values, rows, title=point, columns=columns, caption=caption)
    mounts.mount("hooks-strip", data)


PAGE = Page(
    "hooks",
    "Where can you read and change what the model computes?",
    ("head", "encoder", "decoder", "cross-attention", "weight"),
    (hook_points_of_a_layer,),
    row="hooks-controls",
)
