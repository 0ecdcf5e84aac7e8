"""Heads: every layer and head of every kind at a glance, one of them large."""

from __future__ import annotations

import numpy as np
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Kind
from transformer.analysis.measures import measure, summarise
from transformer.analysis.roles import head_roles
from transformer.attention import MultiHeadAttention, attention_scores
from viz.app import navigation, sentence_bar
from viz.app.explanations import code_line, explain
from viz.app.formatting import format_number
from viz.app.head_picker import HEAD, KIND, choose, in_link
from viz.app.memory import memo_per_trace
from viz.app.mounts import attention_map, head_grid, head_view
from viz.draw.head_grid import GridPart
from viz.draw.labels import SCREEN_NAMES, head_name, shown
from viz.draw.open_head import Heads, OpenMap, crop_to_step, heads, mean, open_map
from viz.pages.heads import controls as menus
from viz.pages.heads.compare import second_map
from viz.pages.heads.controls import DESCENDING, LAYER_ORDER, Controls
from viz.pages.heads.downloads import download_menu

_ROWS_AND_COLUMNS: dict[Kind, str] = {
    "encoder_self": "each English token (row) looks at all English tokens (columns)",
    "decoder_self": (
        "each position of the decoder (row, named by the token that it reads) looks at itself "
        "and the positions before it; what comes later is masked"
    ),
    "cross": "each German token being written (row) looks at the English tokens (columns)",
}


def show() -> None:
    """Draw the page for the sentence in the bar."""
    if (trace := sentence_bar.trace()) is not None:
        show_trace(trace)


def show_trace(trace: AttentionTrace) -> None:
    """Draw the page for a trace."""
    row = st.container(
        key="heads-controls", horizontal=True, vertical_alignment="bottom", gap="small"
    )
    controls = menus.draw(row, *trace.cross.shape[:2])
    try:
        now = _show(trace, controls)
    except HeadlightError as error:
        with st.container(key="no-picture"):
            st.text(str(error))
        return
    with row:
        download_menu(trace, now, controls)


def _show(trace: AttentionTrace, controls: Controls) -> OpenMap:
    """The pictures; gives the map that is open."""
    every = {kind: _heads(trace, kind, controls) for kind in {*controls.kinds, controls.kind}}
    of = every[controls.kind]
    now = open_map(of, controls.layer, controls.head)
    step = _step(trace, controls) if controls.view == "step by step" else None
    if controls.view == "compare":
        _compare(trace, controls, now)
        _grid(trace, every, controls, None)
    else:
        grid, picture = st.columns([5, 7], gap="medium")
        with grid:
            _grid(trace, every, controls, step)
        if step is not None and controls.kind != "encoder_self":
            now = crop_to_step(now, controls.kind, step)
        with picture:
            _large(trace, controls, of, now, step)
    _explain(trace, controls.kind)
    return now


def _step(trace: AttentionTrace, controls: Controls) -> int:
    """The decoder's step, from 0, off a slider that counts from 1."""
    rows = _heads(trace, "cross", controls).axes.labels.queries
    if len(rows) == 1:
        return 0
    # a link, or the sentence before, may have had more steps
    st.session_state["step"] = min(max(st.session_state.get("step", 1), 1), len(rows))
    step: int = st.slider(
        f"Step of the decoder: {len(rows)} in all", 1, len(rows), key="step", bind="query-params"
    )
    st.text(f"Step {step} writes “\u2068{shown(rows)[step - 1]}\u2069”")
    return step - 1


def _grid(
    trace: AttentionTrace, every: dict[Kind, Heads], controls: Controls, step: int | None
) -> None:
    parts = [_part(trace, every[kind], controls) for kind in controls.kinds]
    # a mean is no head: nothing is outlined
    layer, head = (-1 if n is None else n for n in (controls.layer, controls.head))
    head_grid(
        parts,
        selected=(controls.kind, layer, head),
        on_pick=_open,
        order=_order(parts, controls),
        step=step,
        key="grid",
    )


def _open(picked: tuple[Kind, int, int]) -> None:
    """Let the menus follow a click in the grid."""
    kind, layer, head = picked
    st.session_state[KIND] = SCREEN_NAMES[kind]
    choose(HEAD, layer, head)


def _part(trace: AttentionTrace, of: Heads, controls: Controls) -> GridPart:
    key = (of.kind, controls.words)
    named = memo_per_trace(trace, ("roles", *key), lambda: head_roles(of.whole, of.kind))
    values = None
    if (sort := controls.sort) != LAYER_ORDER:
        values = memo_per_trace(trace, (sort, *key), lambda: measure(of.whole, of.kind, sort))
    return GridPart(of.kind, of.axes.weights, of.axes.labels, named, values)


def _heads(trace: AttentionTrace, kind: Kind, controls: Controls) -> Heads:
    words, special = controls.words, controls.special
    return memo_per_trace(
        trace,
        ("heads", kind, words, special),
        lambda: heads(trace, kind, words=words, special=special),
    )


def _order(parts: list[GridPart], controls: Controls) -> list[tuple[Kind, int, int]] | None:
    """The heads in the order that was asked for; None where they stand by layer, all of them."""
    layers = parts[0].weights.shape[0]
    if controls.sort == LAYER_ORDER and len(controls.layers) == layers:
        return None
    heads_at = [
        (0.0 if part.values is None else float(part.values[layer, head]), part.kind, layer, head)
        for part in parts
        for layer in controls.layers
        for head in range(part.weights.shape[1])
    ]
    # sorted() is stable: equal values stay in the order of kinds and layers
    heads_at.sort(key=lambda one: one[0], reverse=controls.sort in DESCENDING)
    return [(kind, layer, head) for _, kind, layer, head in heads_at]


def _large(
    trace: AttentionTrace, controls: Controls, of: Heads, now: OpenMap, step: int | None
) -> None:
    _numbers(trace, controls)
    _map(controls, now, key="heads-map")
    if controls.layer is not None and controls.head is not None:
        one = in_link(controls.kind, controls.layer, controls.head)
        navigation.link("inside", "how this head comes to its weights", one)
    st.subheader("Ribbons", anchor=False)
    others = st.multiselect(
        "Overlay other heads",
        [head_name(layer, head) for layer, head in np.ndindex(of.axes.weights.shape[:2])],
        max_selections=7,
        key="over",
        bind="query-params",
        placeholder="Choose heads of the same kind",
    )
    overlaid = [(now.title, now.weights)]
    for layer, head in np.ndindex(of.axes.weights.shape[:2]):
        if (name := head_name(layer, head)) in others and (layer, head) != (
            controls.layer,
            controls.head,
        ):
            other = open_map(of, layer, head)
            if step is not None and of.kind != "encoder_self":
                other = crop_to_step(other, of.kind, step)
            overlaid.append((name, other.weights))
    head_view(
        overlaid,
        now.labels,
        of.kind,
        threshold=controls.threshold,
        reads=now.reads,
        key="heads-ribbons",
    )


def _compare(trace: AttentionTrace, controls: Controls, first: OpenMap) -> None:
    second = second_map(controls, trace)
    if second is None:
        return
    columns = st.columns(3, gap="medium")
    for place, column, one in (("first", columns[0], first), ("second", columns[1], second)):
        with column:
            _map(controls, one, key=f"heads-{place}")
    with columns[2]:
        if first.labels != second.labels:
            st.text("A difference needs the same tokens along both axes; these maps differ there.")
            return
        attention_map(
            first.weights - second.weights,
            first.labels,
            controls.kind,
            title="first minus second",
            reads=first.reads,
            signed=True,
            note=None if controls.special else "Each square is first minus second.",
            key="heads-difference",
        )


def _map(controls: Controls, one: OpenMap, *, key: str) -> None:
    note = None
    if one.absorbed is not None:
        note = f"Special tokens are left out: {one.absorbed:.0%} of these rows' weight goes there."
    attention_map(
        one.weights,
        one.labels,
        controls.kind,
        title=one.title,
        reads=one.reads,
        scale=controls.scale,
        threshold=controls.threshold,
        note=note,
        key=key,
    )


def _numbers(trace: AttentionTrace, controls: Controls) -> None:
    """What the open map amounts to on this sentence, in pieces, special tokens included."""
    weights = mean(trace.weights(controls.kind), controls.layer, controls.head)
    labels = trace.labels(controls.kind)
    numbers = summarise(weights, causal=controls.kind == "decoder_self")
    with st.container(key="heads-numbers", horizontal=True, gap="medium"):
        st.metric(
            "Entropy",
            f"{numbers.entropy:.2f} bit",
            help="Mean over the rows: 0 where each looks at one piece alone, "
            f"{numbers.max_entropy:.2f} where each looks at all pieces that it sees alike.",
            width="content",
        )
        with st.container(key="largest", gap=None, width="content"):
            st.metric("Largest weight", f"{numbers.largest:.2f}", width="content")
            query, key = shown(labels.queries)[numbers.query], shown(labels.keys)[numbers.key]
            st.text(f"{query} looks at {key}")
        if controls.kind != "cross":
            st.metric(
                "Offset",
                f"{format_number(numbers.offset, 1, sign=True)} ± {numbers.spread:.1f}",
                help="How far from itself a position looks, in pieces: mean and standard "
                "deviation over all weights; below 0 is back, above 0 is ahead.",
                width="content",
            )


def _explain(trace: AttentionTrace, kind: Kind) -> None:
    layers, count = trace.cross.shape[:2]
    explain(
        f"{SCREEN_NAMES[kind].capitalize()} attention: {_ROWS_AND_COLUMNS[kind]}. One small map "
        f"for each of the {layers} × {count} heads of each kind, all on one scale from 0 to 1; the "
        f"word under it says what the head does most on this sentence. A row is "
        f"$\\mathrm{{softmax}}(QK^\\top/\\sqrt{{d_k}})$ of equation 1 in one of the heads of "
        f"§3.2.2: {code_line(attention_scores)}, {code_line(MultiHeadAttention.attend)}."
    )
