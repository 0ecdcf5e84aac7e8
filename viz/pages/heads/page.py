"""The page “All heads”: every layer and head of every kind as small maps, one of them large."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translator
from transformer.analysis import axes, sinks
from transformer.analysis.heads import subspaces
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import (
    summarise,
    total_variation,
)
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals
from transformer.analysis.sinks import left_out_keys
from transformer.kinds import KIND_TITLES
from viz.app.chrome import explanations, fields, head_picker, mounts, problems
from viz.app.links import navigation
from viz.app.links.navigation import REMOVE_HEADS, REMOVED, ROLES, VIEW
from viz.app.sentence import player, worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Page, compute, list_call, view
from viz.draw.attention_map import MAX_HEADS
from viz.draw.caption import LENS_NAMES, amount, tells_heads
from viz.draw.formatting import format_number, listing, per_cent
from viz.draw.heads_view import ExplorerOptions, HeadsView, roles_of
from viz.draw.labels import SCREEN_NAMES, capitalised, display_tokens, quoted, row_names
from viz.draw.left_out import left_out, shares_left_out
from viz.draw.open_head import short_name
from viz.figures.heads import head_map
from viz.notebook import explore
from viz.pages.heads import compared, controls, downloads


@view(needs="trace")
def all_heads(bar: BarTranslation) -> None:
    """Draw all heads for the sentence in the bar."""
    show_trace(bar, bar.trace)


def show_trace(bar: BarTranslation, trace: AttentionTrace) -> None:
    """Draw all heads for a trace."""
    options, mode = controls.draw(fields.controls_row("heads-controls"), bar, trace)
    if options.words and (note := axes.apart_note(trace)):
        st.caption(note)
    try:
        view, second = controls.view_of(bar, trace, options), None
        # beside the grid and the map, so that neither is mounted anew
        line = st.container(horizontal=True, gap="small", vertical_alignment="center")
        shown = view.options
        if mode == "one head":
            grid, picture = st.columns([5, 7], gap="medium")
            with grid:
                _grid(view, "heads-map")
            with picture:
                st.caption(_describe_maps(shown, trace))
                shown = show_open(bar, view)
                downloads.download_menu(bar, view.trace, view.opened, shown)
        elif mode == "compare":
            st.caption(_describe_maps(shown, trace))
            second = compared.show_compared(bar, trace, view)
            _grid(view, "heads-first")
            with_second = replace(shown, compared=second)
            downloads.download_menu(bar, view.trace, view.opened, with_second)
        else:
            player.show_player(bar, view.trace, opened=view.selected)
            downloads.download_menu(bar, view.trace, view.opened, shown)
        _explain(bar, view, second)
        _list_calls(bar, trace, view, shown, second)
        if not options.sinks:
            with line:
                _show_left_out(bar, trace, view, options)
    except HeadlightError as error:
        problems.say(error)


_OF_EXPLORER = ("over", "kinds", "layers", "words", "sort", "lens", "sinks", "rows")


def _list_calls(
    bar: BarTranslation,
    trace: AttentionTrace,
    view: HeadsView,
    shown: ExplorerOptions,
    second: HeadsView | None,
) -> None:
    """List the calls that draw the same in a notebook."""
    kind, heads, usual = view.kind, view.heads[view.kind], ExplorerOptions()
    changed: dict[str, Any] = {
        name: value
        for name in _OF_EXPLORER
        if (value := getattr(shown, name)) != getattr(usual, name)
    }
    if shown.lens != "weights":
        changed["translator"] = bar.translator
    list_call(explore, trace, selected=(kind, shown.layer, shown.head), **changed)
    if second is None:
        list_call(roles_of, heads.whole, kind, shown.lens)
    for drawn in filter(None, (view, second)):
        opened, languages = drawn.opened, drawn.trace.languages
        list_call(head_map, opened.weights, *opened.labels, kind=kind, languages=languages)


def _describe_maps(options: ExplorerOptions, trace: AttentionTrace) -> str:
    """Describe a row of the maps and what stands out in it, in Markdown."""
    kind, lens = options.kind or "cross", options.lens
    source, target = trace.languages.name("source"), trace.languages.name("target")
    token = "word" if options.words else "subword"
    row, dark = f"just before a {target} {token} is written", f"the {source} {token}s the head"
    if kind == "encoder_self":
        row, dark = f"one {source} {token}", f"the {token}s the head"
    elif kind == "decoder_self":
        dark = f"the {token}s so far that the head"
    later = "; later ones are masked" if kind == "decoder_self" else ""
    text = f"Each row: {row}. What stands out: {dark} looks at{later}."
    if lens != "weights":
        text += f" Seen through **{LENS_NAMES[lens]}**"
        text += "." if tells_heads(lens) else ", with all heads of a layer together."
    return text


def _show_left_out(
    bar: BarTranslation, trace: AttentionTrace, view: HeadsView, options: ExplorerOptions
) -> None:
    """Draw how much the maps leave out, and how much that is by norms, which a button shows."""
    text = left_out(view.trace, view.kind, options)
    weighed = options.lens == "weights" and sinks.sink_tokens(trace, view.kind)
    longest = max(len(trace.source_pieces), len(trace.target_pieces))
    if weighed and longest <= worth_seeing.LONGEST:  # else norms take seconds, unasked
        norms = controls.through_lens("norm", trace, bar.translator, name="norms")
        shares = shares_left_out(norms, view.kind, options)
        text += f" By the length of their vectors: {listing([*map(per_cent, shares)])}."
    st.caption(explanations.as_markdown(text), width="content")
    if weighed:
        lens = {controls.LENS: LENS_NAMES["norm"], head_picker.WITHOUT_SINKS: False}
        see = partial(st.session_state.update, lens)
        st.button("See the lens norms", key="see-norms", on_click=see, type="tertiary")


def _grid(view: HeadsView, opens: str) -> None:
    def choose(clicked: Head) -> None:
        """Set the menus to the head that was clicked in the grid."""
        st.session_state[head_picker.KIND] = SCREEN_NAMES[clicked.kind]
        controls.choose_head(view.options.lens, clicked.layer, clicked.head)

    data = view.grid(key="grid", opens=opens)
    mounts.mount_grid("grid", data, view.parts, selected=view.selected, on_pick=choose)


def _explain(bar: BarTranslation, view: HeadsView, second: HeadsView | None) -> None:
    lens, shown = view.options.lens, view.shown
    kinds = f"of {' and '.join(KIND_TITLES[kind] for kind in shown.kinds)}"
    if len(shown.kinds) == len(SCREEN_NAMES):
        kinds = "of each kind"
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
        f"{subject} does most on this sentence. {controls.explanation(lens)}"
    )
    if second is not None and second.options.lens != lens:
        text += f"\n\nThe second lens: {controls.explanation(second.options.lens)}"
    if not view.options.sinks:
        text += "\n\nWithout sinks, each row is divided by what is left of it."
        text += explanations.sources("", sinks.without_sinks)
    if tells_heads(lens) and view.options.layer is not None:  # not the mean of all layers
        text += f"\n\n{describe_subspaces(bar.translator, view.trace, view.selected)}"
        text += explanations.sources("§3.2.2", subspaces.subspace_overlaps)
    explanations.explain(text)


def describe_subspaces(translator: Translator, trace: AttentionTrace, head: Head) -> str:
    """Say what the heads of one layer share: subspaces of the residual stream, and positions."""
    model = translator.model
    stack = model.config.stack(head.kind)
    where = f"layer {head.layer + 1} of {KIND_TITLES[head.kind]}"
    if stack.h == 1:
        return f"{capitalised(where)} has one head: there is nothing to compare."
    pairs = np.triu_indices(stack.h, 1)
    overlaps = compute("overlaps", subspaces.subspace_overlaps, model, head.kind, head.layer)
    q, k, v, o = (per_cent(float(overlap[pairs].mean())) for overlap in overlaps.values())
    chance = {subspaces.random_overlap(d, stack.d_model) for d in (stack.d_k, stack.d_v)}
    weights = trace.weights(head.kind)[head.layer]
    causal = head.kind == "decoder_self"
    apart = total_variation(weights[pairs[0]], weights[pairs[1]], causal=causal).mean()
    return (
        "Heads may attend “to information from different representation subspaces at different "
        f"positions”, the paper says. Two heads of {where} share on average {q} of the subspace "
        f"that their queries read, {k} for keys, {v} for values, and {o} of the subspace that they "
        f"write; random subspaces of this width share {listing(sorted(map(per_cent, chance)))}. "
        f"On this sentence, {per_cent(float(apart))} of their weight is on different positions."
    )


def show_open(bar: BarTranslation, view: HeadsView) -> ExplorerOptions:
    """Draw the open map and its ribbons; return the options that show the same ribbons."""
    options = view.options
    mounts.mount_map("heads-map", view.opened.labels, view.open_map)
    if view.opened.weights.any():
        show_numbers(view)
    if options.layer is not None and options.head is not None:
        head = Head(view.kind, options.layer, options.head)
        url = head_picker.link_parameters(*head)
        navigation.link("inside", "See how this head computes its weights", url)
        removal_url = {**url, VIEW: REMOVE_HEADS, REMOVED: format_removals([Removal(*head)])}
        navigation.link("roles", "Remove this head and see what changes", removal_url)
        navigation.link("roles", "See what this head does", {**url, VIEW: ROLES})
    st.subheader("Ribbons", anchor=False)
    rows = head_picker.pick_row(bar.translator, disabled=view.kind == "encoder_self")
    over = tuple(_overlaid(view))
    mounts.mount("heads-ribbons", view.ribbons(over, rows))
    return replace(options, rows=rows, over=over)


def _overlaid(view: HeadsView) -> list[tuple[int, int]]:
    """Draw the menu of overlaid ribbons; return layer and head of each."""
    lens, (_, *opened) = view.options.lens, view.selected
    places = [*np.ndindex(view.heads[view.kind].axes.weights.shape[:2])]
    named = {short_name(lens, *place): place for place in places}
    subject, key = ("heads", "over") if tells_heads(lens) else ("layers", "over_layers")
    others = st.multiselect(
        f"Overlay other {SCREEN_NAMES[view.kind]} {subject}",
        list(named),
        max_selections=MAX_HEADS - 1,
        key=key,
        bind="query-params",
        placeholder=f"Choose {subject}",
    )
    # in the order of the menu, as the ribbons and their switches
    return [named[name] for name in others if named[name] != tuple(opened)]


def show_numbers(view: HeadsView) -> None:
    """Draw the summary of the open map over the rows that have weight."""
    options, opened, heads = view.options, view.opened, view.heads[view.kind]
    axes = heads.axes
    sinks, causal = compute("left_out", left_out_keys, axes), axes.is_causal(heads.kind)
    numbers = compute("numbers", summarise, opened.weights, causal=causal, sinks=sinks)
    unit = "word" if options.words else "subword"
    quantity = amount(heads.lens)
    weights = heads.lens == "weights"
    verb, most = ("looks at", " looks at") if weights else ("has", ": most goes to")
    with st.container(horizontal=True, gap="medium"):
        st.metric(
            "Entropy",
            f"{numbers.entropy:.2f} bits",
            help=f"How evenly a row is spread. 0 bits: each row {verb} one {unit}; "
            f"{numbers.max_entropy:.2f}: evenly all.",
            width="content",
        )
        with st.container(key="largest", gap=None, width="content"):
            row, column = numbers.query, numbers.key
            st.metric(f"Largest {quantity}", f"{numbers.largest:.2f}", width="content")
            name = row_names(opened.labels.queries, reads=axes.reads, writes=axes.writes)[row]
            key = quoted(display_tokens(opened.labels.keys)[column])
            st.text(f"{capitalised(name)}{most} {key}")
        if heads.kind != "cross":
            st.metric(
                "Offset",
                f"{format_number(numbers.offset, 1, sign=True)} ± {numbers.offset_deviation:.1f}",
                help=f"How many {unit}s away a row looks: mean and standard deviation. Below 0: "
                f"back; above 0: ahead.",
                width="content",
            )


PAGE = Page(
    "heads",
    "Where does each head look?",
    ("head", "encoder", "decoder", "cross-attention", "weight", "lens", "entropy", "end"),
    (all_heads,),
)
