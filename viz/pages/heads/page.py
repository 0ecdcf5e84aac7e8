"""Heads: every layer and head of every kind at a glance, one of them large."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Kind
from transformer.analysis.measures import first_counted_row, measure, summarise
from transformer.analysis.roles import head_roles
from transformer.attention import MultiHeadAttention, attention_scores
from transformer.config import BOS
from transformer.tokenizer import SPECIAL
from viz.app import navigation, sentence_bar
from viz.app.explanations import code_line, explain, lead
from viz.app.formatting import format_number
from viz.app.head_picker import HEAD, KIND, choose, in_link
from viz.app.memory import memo_per_trace
from viz.app.mounts import attention_map, head_grid, head_view
from viz.app.origin import origin_of
from viz.draw.caption import LENS, of_head
from viz.draw.head_grid import GridPart
from viz.draw.head_order import LAYER_ORDER, head_order
from viz.draw.labels import SCREEN_NAMES, at_head, head_name, quoted, row_names, shown
from viz.draw.open_head import Heads, OpenMap, crop_to_step, heads, mean, open_map
from viz.pages.heads import controls as menus
from viz.pages.heads.compare import second_map
from viz.pages.heads.controls import Controls
from viz.pages.heads.downloads import Screen, download_menu

_ROWS_AND_COLUMNS: dict[Kind, str] = {
    "encoder_self": "each English token (row) looks at all English tokens (columns)",
    "decoder_self": (
        "each row of the decoder reads one token, by which it is named, and writes the next; it "
        "looks at itself and the rows before it, for what comes later is masked"
    ),
    "cross": (
        "each row of the decoder reads one token and writes the next, by which it is named here; "
        "it looks at the English tokens (columns)"
    ),
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
    lead(
        f"{SCREEN_NAMES[controls.kind].capitalize()} attention: {_ROWS_AND_COLUMNS[controls.kind]}."
    )
    try:
        screen = _show(trace, controls)
    except HeadlightError as error:
        with st.container(key="no-picture"):
            st.text(str(error))
        return
    with row:
        download_menu(trace, screen, controls)


def _show(trace: AttentionTrace, controls: Controls) -> Screen:
    """The pictures; gives what is drawn, for the files that are made of it."""
    over: list[tuple[int, int]] = []
    compared = None
    every = {kind: _heads(trace, kind, controls) for kind in {*controls.kinds, controls.kind}}
    step = _step(trace, controls) if controls.view == "step by step" else None
    of = every[controls.kind] if step is None else crop_to_step(every[controls.kind], step)
    now = open_map(of, controls.layer, controls.head)
    if controls.view == "compare":
        compared = _compare(trace, controls, now)
        _grid(trace, every, controls, None)
    else:
        grid, picture = st.columns([5, 7], gap="medium")
        with grid:
            _grid(trace, every, controls, step)
        with picture:
            over = _large(trace, controls, of, now)
    _explain(trace, step)
    return Screen(now, step=step, over=tuple(over), compared=compared)


def _step(trace: AttentionTrace, controls: Controls) -> int:
    """The decoder's step, from 0, off a slider that counts from 1."""
    axes = _heads(trace, "cross", controls).axes
    rows, reads = axes.labels.queries, axes.reads
    step = 1
    if len(rows) > 1:
        # a link, or the sentence before, may have had more steps
        st.session_state["step"] = min(max(st.session_state.get("step", 1), 1), len(rows))
        label = f"Step of the decoder: {len(rows)} in all"
        step = st.slider(label, 1, len(rows), key="step", bind="query-params")
    names = row_names(rows, reads=reads)
    st.text(f"Step {step}: {names[step - 1]}.")
    return step - 1


def _grid(
    trace: AttentionTrace, every: dict[Kind, Heads], controls: Controls, step: int | None
) -> None:
    # the kind of the open head comes first, beside its map
    kinds = sorted(controls.kinds, key=lambda kind: kind != controls.kind)
    parts = [_part(trace, every[kind], controls, step) for kind in kinds]
    # a mean is no head: nothing is outlined
    layer, head = (-1 if n is None else n for n in (controls.layer, controls.head))
    head_grid(
        parts,
        selected=(controls.kind, layer, head),
        on_pick=_open,
        opens="heads-first" if controls.view == "compare" else "heads-map",
        order=head_order(parts, controls.layers, controls.sort),
        step=step,
        key="grid",
        caption=origin_of(trace).caption(f"every head, lens: {LENS}."),
    )


def _open(picked: tuple[Kind, int, int]) -> None:
    """Let the menus follow a click in the grid."""
    kind, layer, head = picked
    st.session_state[KIND] = SCREEN_NAMES[kind]
    choose(HEAD, layer, head)


def _part(trace: AttentionTrace, of: Heads, controls: Controls, step: int | None) -> GridPart:
    # what is measured is measured on the rows that are shown: those of later steps are blank
    measured = of.whole if step is None else crop_to_step(of, step).whole
    key = (of.kind, controls.words, None if of.kind == "encoder_self" else step)
    named = memo_per_trace(trace, ("roles", *key), lambda: head_roles(measured, of.kind))
    values = None
    if (sort := controls.sort) != LAYER_ORDER:
        values = memo_per_trace(trace, (sort, *key), lambda: measure(measured, of.kind, sort))
    return GridPart(of.kind, of.axes.weights, of.axes.labels, named, values)


def _heads(trace: AttentionTrace, kind: Kind, controls: Controls) -> Heads:
    words, special = controls.words, controls.special
    return memo_per_trace(
        trace,
        ("heads", kind, words, special),
        lambda: heads(trace, kind, words=words, special=special),
    )


def _large(
    trace: AttentionTrace, controls: Controls, of: Heads, now: OpenMap
) -> list[tuple[int, int]]:
    """The open map and its ribbons; gives the heads whose ribbons lie over its own."""
    caption = _caption(trace, controls)
    _map(controls, now, caption, key="heads-map")
    _numbers(controls, of, now)
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
    named = {head_name(*at): at for at in np.ndindex(of.axes.weights.shape[:2])}
    # in the order in which they were chosen: menu, switches and ribbons are one list
    over = [named[name] for name in others if named[name] != (controls.layer, controls.head)]
    maps = [open_map(of, *at) for at in over]
    head_view(
        [(now.title, now.weights)]
        + [(head_name(*at), one.weights) for at, one in zip(over, maps, strict=True)],
        now.labels,
        of.kind,
        threshold=controls.threshold,
        reads=now.reads,
        writes=now.writes,
        key="heads-ribbons",
        caption=caption,
    )
    return over


def _compare(trace: AttentionTrace, controls: Controls, first: OpenMap) -> OpenMap | None:
    """The open map, a second one and their difference; gives the second one."""
    found = second_map(controls, trace)
    if found is None:
        return None
    second, caption = found
    own = _caption(trace, controls)
    columns = st.columns(3, gap="medium")
    with columns[0]:
        _map(controls, first, own, beside_difference=True, key="heads-first")
    with columns[1]:
        _map(controls, second, caption, beside_difference=True, key="heads-second")
    with columns[2]:
        if first.labels != second.labels:
            st.text("A difference needs the same tokens along both axes; these maps differ there.")
            return second
        attention_map(
            first.weights - second.weights,
            first.labels,
            controls.kind,
            title="first minus second",
            reads=first.reads,
            writes=first.writes,
            signed=True,
            note=None if controls.special else "Each square is first minus second.",
            key="heads-difference",
            caption=["First:", *own, "Second:", *caption],
        )
    return second


def _caption(trace: AttentionTrace, controls: Controls) -> list[str]:
    return origin_of(trace).caption(of_head(controls.kind, controls.layer, controls.head))


def _map(
    controls: Controls,
    one: OpenMap,
    caption: Sequence[str],
    *,
    key: str,
    beside_difference: bool = False,
) -> None:
    note = None
    if one.absorbed is not None:
        note = f"Special tokens are left out: {one.absorbed:.0%} of these rows' weight goes there."
    attention_map(
        one.weights,
        one.labels,
        controls.kind,
        title=one.title,
        reads=one.reads,
        writes=one.writes,
        scale=controls.scale,
        threshold=controls.threshold,
        note=note,
        beside_difference=beside_difference,
        key=key,
        caption=caption,
    )


def _numbers(controls: Controls, of: Heads, now: OpenMap) -> None:
    """What the open map amounts to on the rows that are shown, special tokens included."""
    causal = of.kind == "decoder_self"
    numbers = summarise(mean(of.whole.weights, controls.layer, controls.head), causal=causal)
    unit = "word" if controls.words else "piece"
    included = "" if controls.special else " Special tokens count here, although they are hidden."
    with st.container(key="heads-numbers", horizontal=True, gap="medium"):
        st.metric(
            "Entropy",
            f"{numbers.entropy:.2f} bit",
            help=f"Mean over the rows: 0 where each looks at one {unit} alone, "
            f"{numbers.max_entropy:.2f} where each looks at all {unit}s that it sees alike."
            + included,
            width="content",
        )
        with st.container(key="largest", gap=None, width="content"):
            row, column, weight = _largest(now, of.kind)
            st.metric("Largest weight", f"{weight:.2f}", width="content")
            name = row_names(now.labels.queries, reads=now.reads, writes=now.writes)[row]
            key = quoted(shown(now.labels.keys)[column])
            st.text(f"{at_head(name)} looks at {key}")
        if of.kind != "cross":
            st.metric(
                "Offset",
                f"{format_number(numbers.offset, 1, sign=True)} ± {numbers.spread:.1f}",
                help=f"How far from itself a position looks, in {unit}s: mean and standard "
                f"deviation over all weights; below 0 is back, above 0 is ahead.{included}",
                width="content",
            )


def _largest(now: OpenMap, kind: Kind) -> tuple[int, int, float]:
    """Row, column and value of the largest weight that is drawn.

    The decoder's first row sees itself alone: its 1 is no choice, and counts only by itself.
    """
    alone = kind == "decoder_self" and now.labels.queries[0] == SPECIAL[BOS]
    first = first_counted_row(len(now.weights), causal=alone)
    row, column = np.unravel_index(int(now.weights[first:].argmax()), now.weights[first:].shape)
    return int(row) + first, int(column), float(now.weights[row + first, column])


def _explain(trace: AttentionTrace, step: int | None) -> None:
    layers, count = trace.cross.shape[:2]
    measured = "on this sentence" if step is None else f"up to step {step + 1}"
    explain(
        f"One small map for each of the {layers} × {count} heads of each kind, all on one scale "
        f"from 0 to 1; the word under it says what the head does most {measured}. A row is "
        f"$\\mathrm{{softmax}}(QK^\\top/\\sqrt{{d_k}})$ of equation 1 in one of the heads of "
        f"§3.2.2: {code_line(attention_scores)}, {code_line(MultiHeadAttention.attend)}."
    )
