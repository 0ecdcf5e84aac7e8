"""The view “all matrices”: one head at the left, all heads of its layer at the right (§3.2)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from transformer import AttentionTrace, TransformerConfig, attention
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.paper import multi_head
from transformer.paper.arithmetic import SublayerValues, sublayer_values
from transformer.paper.multi_head import HeadMatrices, ProjectionTimes
from viz.app.chrome import charts, explanations, fields, head_picker, mounts
from viz.app.links import navigation
from viz.app.sentence import worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import cached, compute, controls, view
from viz.draw.architecture import encode_strip
from viz.draw.attention_map import MapAxes, encode_map
from viz.draw.caption import head_caption
from viz.draw.formatting import counted
from viz.draw.labels import SCREEN_NAMES, display_tokens, row_names
from viz.draw.palette import COLOR
from viz.figures.axes import INK
from viz.figures.figure2 import Panel, drawing

OPEN = "figure2_open"  # name in the URL of what stands at the right
ALL_HEADS = "all heads"
FIELDS = {
    "Q": "Q", "K": "K", "V": "V", "QKᵀ": "dots", "scaled": "scaled", "masked": "masked",
    "softmax": "weights", "Z": "Z",
}  # fmt: skip
"""Fields of `HeadMatrices` by the names in the URL."""
HEIGHT, BOX, GAP = 436, 60, 15  # CSS pixels: the drawing, a box at the left, and between two
MOST_HEADS = 16  # that are drawn
Names = Sequence[str]
THIRDS = ((0.0, 0.31), (0.345, 0.655), (0.69, 1.0))  # left and right


def pick_head(bar: BarTranslation) -> Head:
    """Draw the menus of a head."""
    with controls():
        first = worth_seeing.default_choices("inside", bar.translator, bar.trace)
        return head_picker.pick_head(bar.translator, first)


@view("all matrices", needs="trace")
def all_matrices(bar: BarTranslation) -> None:
    """Draw all matrices of one head, and all heads of its layer."""
    place = pick_head(bar)
    model, trace = bar.translator.model, bar.trace
    kind, layer, head = place
    values = compute("values", sublayer_values, model, trace, kind, layer)
    matrices = compute("matrices", multi_head.head_matrices, values, head)
    concat = compute("side_by_side", multi_head.concat, values.z)
    with controls():
        opened = fields.menu("At the right", [ALL_HEADS, *FIELDS], OPEN, width=230)
    times = compute("times", multi_head.projection_times, model, kind, layer, values.x)
    names = names_of(trace, place)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(f"Scaled dot-product attention, {place.title}", anchor=False)
        chart = cached(_one_head, matrices, *names, COLOR[kind], opened)
        draw(trace, chart, f"one-{opened}", place, "Scaled dot-product attention.")
        st.latex(
            r"\text{Attention}(Q, K, V) = "
            r"\text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V"
        )
        _explain(model.config.stack(kind), times, len(matrices.Q))
        navigation.link("inside", "Follow one query", head_picker.link_parameters(*place))
        navigation.link(
            "additive", "Try QKᵀ × √dₖ, or additive attention", {"additive_view": "Scale"}
        )
    with right:
        if opened == ALL_HEADS:
            st.subheader(f"Multi-head attention, layer {layer + 1}", anchor=False)
            chart = cached(_every_head, values, concat, place, *names)
            draw(trace, chart, f"all-{head}", place, "Multi-head attention.")
        else:
            st.subheader(f"{opened}: {_times(getattr(matrices, FIELDS[opened]))}", anchor=False)
            _open(bar, place, matrices, opened)
        _shapes(model.config.stack(kind), head)


def draw(trace: AttentionTrace, chart: dict[str, Any], key: str, place: Head, alt: str) -> None:
    """Draw a part of Figure 2; a click opens a matrix, or another head of the layer."""
    key = f"figure2-{key}"

    def clicked() -> None:
        name = charts.clicked_point(st.session_state.get(key)).get("name")
        if isinstance(name, str) and name in FIELDS:
            st.session_state[OPEN] = name
        elif isinstance(name, str) and name in map(str, range(trace.weights(place.kind).shape[1])):
            head_picker.choose(head_picker.HEAD, place.layer, int(name))

    charts.altair_chart(chart, key=key, on_select=clicked, alt=alt)


def names_of(trace: AttentionTrace, place: Head) -> tuple[list[str], list[str]]:
    """Name the queries and the keys of a kind of attention."""
    axes = by_pieces(trace, place.kind)
    queries = row_names(axes.labels.queries, reads=axes.reads, writes=axes.writes)
    return queries, display_tokens(axes.labels.keys)


def pattern_panels(
    weights: NDArray[np.floating], queries: Names, keys: Names, color: str, top: float, foot: float
) -> list[Panel]:
    """Place the patterns of a layer's heads, `[head, query, key]`, side by side."""
    count = min(len(weights), MOST_HEADS)
    return [
        Panel(
            (0.01 + 0.98 * (n + 0.04) / count, 0.01 + 0.98 * (n + 0.96) / count, top, foot),
            *(f"{n + 1}", "", weights[n], queries, keys, f"{n}", color),
            above=True,
        )
        for n in range(count)
    ]


def _times(values: NDArray[np.floating]) -> str:
    return f"{values.shape[0]} × {values.shape[1]}"


def _one_head(
    m: HeadMatrices, queries: Names, keys: Names, color: str, opened: str
) -> dict[str, Any]:
    hidden = int(np.isinf(m.masked).sum())
    mask = f"−∞ in {counted(hidden, 'square')}" if hidden else "hides nothing"
    middle, tops = (0.0, THIRDS[1][1]), [n * (BOX + GAP) for n in range(6)]
    softmax, mask_place, scale, dots = ((*middle, top, top + BOX) for top in tops[1:5])
    foot = [(*ends, tops[5], float(HEIGHT)) for ends in THIRDS]
    panels = [
        Panel((0, 1, 0, BOX), "MatMul", f"· V = Z, {_times(m.Z)}", m.Z, queries, name="Z"),
        Panel(softmax, "SoftMax", "rows sum to 1", m.weights, queries, keys, "softmax", color),
        Panel(mask_place, "Mask (opt.)", mask, m.masked, queries, keys, "masked"),
        Panel(scale, "Scale", f"÷ √{m.Q.shape[1]}", m.scaled, queries, keys, "scaled"),
        Panel(dots, "MatMul", f"QKᵀ, {_times(m.dots)}", m.dots, queries, keys, "QKᵀ"),
        Panel(foot[0], "Q", _times(m.Q), m.Q, queries, name="Q"),
        Panel(foot[1], "K", _times(m.K), m.K, keys, name="K"),
        Panel(foot[2], "V", _times(m.V), m.V, keys, name="V"),
    ]
    q, k, v = (sum(ends) / 2 for ends in THIRDS)
    arrows = [(sum(middle) / 2, top, top - GAP) for top in tops[1:5]]
    arrows += [(q, tops[5], tops[5] - GAP), (k, tops[5], tops[5] - GAP), (v, tops[5], BOX)]
    return charts.spec_of(drawing(panels, arrows, HEIGHT, opened))


def _every_head(
    values: SublayerValues, z: NDArray[np.floating], place: Head, queries: Names, keys: Names
) -> dict[str, Any]:
    h, d_model = len(values.q), values.x.shape[1]
    marks = [(INK, (place.head / h, (place.head + 1) / h, 0.0, 1.0))]
    q, k, v = map(multi_head.concat, (values.q, values.k, values.v))
    memory_of = "memory z" if place.kind == "cross" else "x"
    heads = f"{h} heads at once" if h > 1 else "one head"
    output, wide = f"Wᴼ, {z.shape[1]} × {d_model}", f"{h} × {values.z.shape[2]} wide"
    panels = [
        Panel((0, 1, 0, 58), "Linear", output, values.output, queries),
        Panel((0, 1, 73, 131), "Concat", wide, z, queries, marks=marks),
        Panel((0, 1, 146, 286), "Scaled dot-product attention", heads, above=True),
        *pattern_panels(values.weights, queries, keys, COLOR[place.kind], 166, 281),
    ]
    inputs = (q, queries, "Q = x"), (k, keys, f"K = {memory_of}"), (v, keys, f"V = {memory_of}")
    for ends, (x, rows, name) in zip(THIRDS, inputs, strict=True):
        slices = f"{h} slices"
        panels += [
            Panel((*ends, 301, 382), "Linear", slices, x, rows, above=True, marks=marks),
            Panel((*ends, 397, HEIGHT), name, f"{len(rows)} × {d_model}"),
        ]
    arrows = [(0.5, 73.0, 58.0), (0.5, 146.0, 131.0)]
    arrows += [(sum(ends) / 2, low, low - 15) for ends in THIRDS for low in (301.0, 397.0)]
    return charts.spec_of(drawing(panels, arrows, HEIGHT, f"{place.head}"))


def _open(bar: BarTranslation, place: Head, m: HeadMatrices, name: str) -> None:
    kind, layer, head = place
    values = getattr(m, FIELDS[name]).astype(np.float32)
    trace, origin = bar.trace, bar.origin
    axes = by_pieces(trace, kind)
    if name == "softmax":
        encode = partial(
            encode_map, values, MapAxes.of(trace, kind), title=place.title,
            caption=origin.caption(head_caption(*place)),
        )  # fmt: skip
        mounts.mount_map("figure2-map", axes.labels, encode)
        return
    rows = axes.labels.keys if name in "KV" else axes.labels.queries
    columns = None if name in "QKVZ" else axes.labels.keys
    caption = origin.caption(f"{SCREEN_NAMES[kind]}, layer {layer + 1}, head {head + 1}: {name}.")
    title = f"{place.title}, {name}"
    strip = encode_strip(values, rows, title=title, columns=columns, caption=caption)
    mounts.mount("figure2-strip", strip)


def _shapes(stack: TransformerConfig, head: int) -> None:
    d, h, i = stack.d_model, stack.h, head + 1
    rows = []
    for letter, width in (("Q", stack.d_k), ("K", stack.d_k), ("V", stack.d_v)):
        slices = f"columns {head * width + 1} to {i * width} of $W^{letter}$, {d} × {h * width}"
        shape = rf"$d_\text{{model}} \times d_{'v' if letter == 'V' else 'k'}$"
        rows.append(f"| $W_{{{i}}}^{letter}$ | {shape}: 512 × 64 | {d} × {width} | {slices} |")
    shape = r"$hd_v \times d_\text{model}$"
    rows.append(f"| $W^O$ | {shape}: 512 × 512 | {h * stack.d_v} × {d} | one for all heads |")
    st.latex(
        r"\begin{aligned} &\text{MultiHead}(Q, K, V) \\ "
        r"&\quad = \text{Concat}(\text{head}_1, \ldots, \text{head}_h)\,W^O \\ "
        r"&\text{head}_i = \text{Attention}(QW_i^Q,\, KW_i^K,\, VW_i^V) \\ "
        r"&i \in \{1, \ldots, h\} \end{aligned}"
    )
    heading = "| | in the paper | here | in the code |\n|---|---|---|---|"
    st.markdown("\n".join([heading, *rows]).replace(" × ", "\u00a0×\u00a0"))


def _explain(stack: TransformerConfig, times: ProjectionTimes, queries: int) -> None:
    h = stack.h
    together, separate = (f"{1e6 * seconds:.0f} µs" for seconds in times)
    first = f" The first {MOST_HEADS} are drawn." if h > MOST_HEADS else ""
    explanations.explain(
        "Both are read from the foot up. Click a matrix to open it at the right, a head to see its "
        "matrices at the left; point at a square for its number. Olive is below 0, purple above, "
        f"each matrix on its own scale; grey is −∞. **Left:** all {queries} queries are packed "
        "into Q, all keys and values into K and V, so that two products of matrices answer every "
        "query in parallel. The dot product is the *compatibility function*: it says how well a "
        f"key fits a query. **Right:** {h} heads run in parallel, each in its own subspaces, which "
        f"the projections W make: dₖ = {stack.d_k} of {stack.d_model} numbers (the paper: 64 of "
        f"512).{first} Their results stand side by side (Concat) and Wᴼ mixes them. The code makes "
        f"no small products: the {h} projections of one letter are slices of one matrix. On this "
        f"machine, the one product for Q takes {together}, and {h} small ones {separate}."
        + explanations.sources(
            "§3.2.1, §3.2.2, Figure 2",
            attention.attention_scores,
            attention.split_heads,
            attention.MultiHeadAttention.attend,
        )
    )
