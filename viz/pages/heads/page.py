"""The page “All heads”: every layer and head of every kind as small maps, one of them large."""

from dataclasses import replace
from functools import partial

import streamlit as st

from transformer import AttentionTrace, HeadlightError
from transformer.analysis import axes, lenses, sinks
from transformer.analysis.heads.head import Head
from transformer.kinds import KIND_TITLES
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome import explanations, fields, head_picker, mounts, problems
from viz.app.sentence import player, python_code, sentence_bar, worth_seeing
from viz.draw.caption import LENS_NAMES, tells_heads
from viz.draw.formatting import listing, per_cent
from viz.draw.heads_view import ExplorerOptions, HeadsView
from viz.draw.labels import SCREEN_NAMES
from viz.draw.left_out import left_out, shares_left_out
from viz.pages.heads import code_blocks, controls, downloads, open_maps
from viz.pages.heads import controls as menus
from viz.pages.heads.lens import LENS, explanation, through_lens


def show() -> None:
    """Draw the page for the sentence in the bar."""
    if (bar := sentence_bar.traced()) is not None:
        show_trace(bar.trace)


def show_trace(trace: AttentionTrace) -> None:
    """Draw the page for a trace."""
    row = fields.controls_row("heads-controls")
    options, mode = menus.draw(row, trace)
    if options.words and (note := axes.apart_note(trace)):
        st.caption(note)
    try:
        lens_trace = through_lens(options.lens, trace)
        remember = partial(memo_per_trace, lens_trace)
        view = HeadsView(lens_trace, options, sentence_bar.origin_of(trace), remember)
        # beside the grid and the map, so that neither is mounted anew
        line = st.container(horizontal=True, gap="small", vertical_alignment="center")
        _show(trace, view, mode)
        if not options.sinks:
            with line:
                _show_left_out(trace, view, options)
    except HeadlightError as error:
        problems.say(error)


def _lead(options: ExplorerOptions, trace: AttentionTrace) -> str:
    kind, lens = options.kind or "cross", options.lens
    source, target = trace.languages.name("source"), trace.languages.name("target")
    token = "word" if options.words else "subword"
    rows_and_squares = {
        "encoder_self": f"Each row: one {source} {token}. Dark: the {token}s the head looks at.",
        "decoder_self": f"Each row: just before a {target} {token} is written. Dark: the {token}s "
        f"so far that the head looks at; later ones are masked.",
        "cross": f"Each row: just before a {target} {token} is written. Dark: the {source} "
        f"{token}s the head looks at.",
    }
    text = rows_and_squares[kind]
    if lens != "weights":
        text += f" Seen through **{LENS_NAMES[lens]}**"
        text += "." if tells_heads(lens) else ", with all heads of a layer together."
    return text


def _show_left_out(trace: AttentionTrace, view: HeadsView, options: ExplorerOptions) -> None:
    """Draw how much the maps leave out, and how much that is by norms, which a button shows."""
    text = left_out(view.trace, view.kind, options)
    weighed = options.lens == "weights" and sinks.sink_tokens(trace, view.kind)
    longest = max(len(trace.source_pieces), len(trace.target_pieces))
    if weighed and longest <= worth_seeing.LONGEST:  # else norms take seconds, unasked
        shares = shares_left_out(through_lens("norm", trace), view.kind, options)
        text += f" By the length of their vectors: {listing([*map(per_cent, shares)])}."
    st.caption(explanations.as_markdown(text), width="content")
    if weighed:
        st.button("See the lens norms", key="see-norms", on_click=_see_norms, type="tertiary")


def _see_norms() -> None:
    """Set the lens to norms, and show the columns of the sinks again."""
    st.session_state[LENS] = LENS_NAMES["norm"]
    st.session_state[head_picker.WITHOUT_SINKS] = False


def _show(trace: AttentionTrace, view: HeadsView, mode: controls.Mode) -> None:
    lens_trace = view.trace
    if mode == "compare":
        st.caption(_lead(view.options, trace))
        second = open_maps.show_compared(trace, view)
        _grid(view, "heads-first")
        compared = None if second is None else open_maps.second_map(second)
        downloads.download_menu(lens_trace, view.opened, replace(view.options, compared=compared))
        _explain(view, second)
        python_code.show_code(*code_blocks.code_parts(view, view.options, second))
        return
    if mode == "step by step":
        player.show_player(sentence_bar.drawn_from(), view.trace, opened=view.selected)
        downloads.download_menu(lens_trace, view.opened, view.options)
        _explain(view, None)
        python_code.show_code(*code_blocks.code_parts(view, view.options, None))
        return
    grid, picture = st.columns([5, 7], gap="medium")
    with grid:
        _grid(view, "heads-map")
    with picture:
        st.caption(_lead(view.options, trace))
        options = open_maps.show_open(view)
        downloads.download_menu(lens_trace, view.opened, options)
    _explain(view, None)
    python_code.show_code(*code_blocks.code_parts(view, options, None))


def _grid(view: HeadsView, opens: str) -> None:
    data = view.grid(key="grid", opens=opens)
    on_pick = partial(_open, view.options.lens)
    mounts.mount_grid("grid", data, view.parts, selected=view.selected, on_pick=on_pick)


def _open(lens: lenses.AnyLens, clicked: Head) -> None:
    """Set the menus to the head that was clicked in the grid."""
    kind, layer, head = clicked
    st.session_state[head_picker.KIND] = SCREEN_NAMES[kind]
    menus.choose_head(lens, layer, head)


def _explain(view: HeadsView, second: HeadsView | None) -> None:
    lens, shown = view.options.lens, view.shown
    if len(shown.kinds) == len(SCREEN_NAMES):
        kinds = "of each kind"
    else:
        kinds = f"of {' and '.join(KIND_TITLES[kind] for kind in shown.kinds)}"
    layers = len(shown.layers)
    if tells_heads(lens):
        shapes = {view.trace.weights(kind).shape[:2] for kind in shown.kinds}
        count = f"{layers} × {view.trace.weights(shown.kind).shape[1]} " if len(shapes) == 1 else ""
        maps, subject = f"each of the {count}heads {kinds}", "the head"
    else:
        layer_text = f"each of the {layers} layers" if layers > 1 else "one layer"
        maps, subject = f"{layer_text} {kinds}, all heads together", "the layer"
    text = (
        f"One small map for {maps}, all coloured from 0 to 1; the word under it says what "
        f"{subject} does most on this sentence. {explanation(lens)}"
    )
    if second is not None and second.options.lens != lens:
        text += f"\n\nThe second lens: {explanation(second.options.lens)}"
    if not view.options.sinks:
        text += "\n\nWithout sinks, each row is divided by what is left of it."
        text += explanations.sources("", sinks.without_sinks)
    explanations.explain(text)
