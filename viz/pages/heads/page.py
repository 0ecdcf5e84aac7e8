"""The page “Heads”: every layer and head of every kind as small maps, one of them large."""

from __future__ import annotations

from functools import partial

import streamlit as st

from transformer import AttentionTrace, HeadlightError, Kind
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import measure
from transformer.analysis.heads.roles import head_roles
from transformer.analysis.lenses import AnyLens
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.explanations import explain
from viz.app.chrome.fields import clamp_state, controls_row
from viz.app.chrome.head_picker import KIND
from viz.app.chrome.mounts import mount_grid
from viz.app.chrome.problems import say
from viz.app.sentence import sentence_bar
from viz.app.sentence.sentence_bar import origin_of
from viz.draw.caption import lens_caption
from viz.draw.explorer_options import ExplorerOptions, SecondMap
from viz.draw.head_grid import GridPart, encode_grid
from viz.draw.head_order import LAYER_ORDER, head_order
from viz.draw.labels import SCREEN_NAMES, row_names
from viz.draw.lens_words import LENS_NAMES, tells_heads
from viz.draw.open_head import (
    Heads,
    OpenMap,
    crop_to_step,
    grid_part,
    heads_of_kind,
    open_map,
    outlined,
)
from viz.pages.heads import controls as menus
from viz.pages.heads.controls import Controls
from viz.pages.heads.downloads import download_menu, explorer_options
from viz.pages.heads.lens import explanation, through_lens
from viz.pages.heads.open_maps import show_compared, show_open


def show() -> None:
    """Draw the page for the sentence in the bar."""
    if (bar := sentence_bar.traced()) is not None:
        show_trace(bar.trace)


def show_trace(trace: AttentionTrace) -> None:
    """Draw the page for a trace."""
    row = controls_row("heads-controls")
    controls = menus.draw(row, *trace.cross.shape[:2])
    st.markdown(_lead(controls, trace.languages.name("source")))
    try:
        lens_trace = through_lens(controls.lens, trace)
        opened, options = _show(trace, lens_trace, controls)
    except HeadlightError as error:
        say(error)
        return
    with row:
        download_menu(lens_trace, opened, options)


def _rows_and_columns(source: str) -> dict[Kind, str]:
    """Describe rows and columns of a map by kind, with the language of the source."""
    return {
        "encoder_self": f"each {source} token (row) looks at all {source} tokens (columns)",
        "decoder_self": (
            "each row of the decoder reads one token, by which it is named, and writes the next; "
            "it looks at itself and the rows before it, for what comes later is masked"
        ),
        "cross": (
            "each row of the decoder reads one token and writes the next, by which it is named "
            f"here; it looks at the {source} tokens (columns)"
        ),
    }


def _lead(controls: Controls, source: str) -> str:
    kind, lens = controls.kind, controls.lens
    text = f"{SCREEN_NAMES[kind].capitalize()} attention: {_rows_and_columns(source)[kind]}."
    if lens != "weights":
        text += f" Seen through **{LENS_NAMES[lens]}**"
        text += "." if tells_heads(lens) else ", with all heads of a layer together."
    return text


def _show(
    trace: AttentionTrace, lens_trace: AttentionTrace, controls: Controls
) -> tuple[OpenMap, ExplorerOptions]:
    """Draw the maps of a trace through its lens; return the open map and the report's options."""
    over: list[tuple[int, int]] = []
    compared = None
    heads_by_kind = {
        kind: _heads(lens_trace, kind, controls) for kind in {*controls.kinds, controls.kind}
    }
    step = _step(lens_trace, controls) if controls.mode == "step by step" else None
    heads = heads_by_kind[controls.kind]
    if step is not None:
        heads = crop_to_step(heads, step)
    opened = open_map(heads, controls.layer, controls.head)
    if controls.mode == "compare":
        compared = show_compared(trace, controls, heads, opened)
        _grid(lens_trace, heads_by_kind, controls, None)
    else:
        grid, picture = st.columns([5, 7], gap="medium")
        with grid:
            _grid(lens_trace, heads_by_kind, controls, step)
        with picture:
            over = show_open(trace, controls, heads, opened)
    _explain(lens_trace, step, controls, compared)
    return opened, explorer_options(controls, step=step, over=over, compared=compared)


def _step(trace: AttentionTrace, controls: Controls) -> int:
    """Draw the slider of the decoder's step, which counts from 1; return the step from 0."""
    axes = _heads(trace, "cross", controls).axes
    rows, reads = axes.labels.queries, axes.reads
    step = 1
    if len(rows) > 1:
        clamp_state("step", len(rows))
        label = f"Step of the decoder: {len(rows)} in all"
        step = st.slider(label, 1, len(rows), key="step", bind="query-params")
    names = row_names(rows, reads=reads)
    st.text(f"Step {step}: {names[step - 1]}.")
    return step - 1


def _grid(
    trace: AttentionTrace, heads_by_kind: dict[Kind, Heads], controls: Controls, step: int | None
) -> None:
    every_head = "every head" if tells_heads(controls.lens) else "every layer, all heads together"
    # the kind of the open head comes first, beside its map
    kinds = sorted(controls.kinds, key=lambda kind: kind != controls.kind)
    parts = [_part(trace, heads_by_kind[kind], controls, step) for kind in kinds]
    data = encode_grid(
        parts,
        key="grid",
        opens="heads-first" if controls.mode == "compare" else "heads-map",
        order=head_order(parts, controls.layers, controls.sort),
        step=step,
        caption=origin_of(trace).caption(f"{every_head}, {lens_caption(controls.lens)}"),
    )
    selected = Head(controls.kind, *outlined(controls.lens, controls.layer, controls.head))
    mount_grid("grid", data, parts, selected=selected, on_pick=partial(_open, controls.lens))


def _open(lens: AnyLens, clicked: Head) -> None:
    """Set the menus to the head that was clicked in the grid."""
    kind, layer, head = clicked
    st.session_state[KIND] = SCREEN_NAMES[kind]
    menus.choose_head(lens, layer, head)


def _part(trace: AttentionTrace, heads: Heads, controls: Controls, step: int | None) -> GridPart:
    # measured on the shown rows: those of later steps are blank
    shown = heads.whole if step is None else crop_to_step(heads, step).whole
    key = (heads.kind, controls.words, None if heads.kind == "encoder_self" else step)
    roles = memo_per_trace(trace, ("roles", *key), lambda: head_roles(shown, heads.kind))
    values = None
    if (sort := controls.sort) != LAYER_ORDER:
        values = memo_per_trace(trace, (sort, *key), lambda: measure(shown, heads.kind, sort))
    return grid_part(heads, roles, values)


def _heads(trace: AttentionTrace, kind: Kind, controls: Controls) -> Heads:
    words, special = controls.words, controls.special
    return memo_per_trace(
        trace,
        ("heads", kind, words, special),
        lambda: heads_of_kind(trace, kind, words=words, special=special, lens=controls.lens),
    )


def _explain(
    trace: AttentionTrace, step: int | None, controls: Controls, compared: SecondMap | None
) -> None:
    lens, layers = controls.lens, len(controls.layers)
    extent = "on this sentence" if step is None else f"up to step {step + 1}"
    if len(controls.kinds) == len(SCREEN_NAMES):
        kinds = "of each kind"
    else:
        kinds = f"of {' and '.join(SCREEN_NAMES[kind] for kind in controls.kinds)} attention"
    if tells_heads(lens):
        maps, subject = f"each of the {layers} × {trace.cross.shape[1]} heads {kinds}", "the head"
    else:
        layer_text = f"each of the {layers} layers" if layers > 1 else "one layer"
        maps, subject = f"{layer_text} {kinds}, all heads together", "the layer"
    text = (
        f"One small map for {maps}, all on one scale from 0 to 1; the word under it says what "
        f"{subject} does most {extent}. {explanation(lens)}"
    )
    if compared is not None and compared.map.lens != lens:
        text += f"\n\nThe second lens: {explanation(compared.map.lens)}"
    explain(text)
