"""The page “All heads”: every layer and head of every kind as small maps, one of them large."""

from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translator
from transformer.analysis import axes, sinks
from transformer.analysis.heads import subspaces
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import (
    head_distances,
    row_distances,
    summarise,
    total_variation,
)
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals
from transformer.analysis.sinks import first_row, left_out_keys
from transformer.kinds import KIND_TITLES
from viz.app.cache import cached_results
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome import explanations, fields, head_picker, mounts, problems
from viz.app.chrome.fields import text_field
from viz.app.links import navigation
from viz.app.links.navigation import REMOVE_HEADS, REMOVED, ROLES, VIEW
from viz.app.sentence import (
    other_model,
    player,
    python_code,
    sentence_bar,
    source_box,
    worth_seeing,
)
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Page, compute, list_call, list_result, name_model, view
from viz.draw import open_head
from viz.draw.attention_map import MAX_HEADS
from viz.draw.caption import LENS_NAMES, Origin, amount, map_unit, tells_heads
from viz.draw.formatting import format_number, listing, per_cent
from viz.draw.heads_view import ExplorerOptions, HeadsView, roles_of
from viz.draw.labels import SCREEN_NAMES, capitalised, display_tokens, quoted, row_names
from viz.draw.left_out import left_out, shares_left_out
from viz.draw.open_head import mean, short_name
from viz.figures.heads import head_map
from viz.notebook import explore
from viz.pages.heads import controls, downloads


@view(needs="trace")
def all_heads(bar: BarTranslation) -> None:
    """Draw all heads for the sentence in the bar."""
    show_trace(bar, bar.trace)


def show_trace(bar: BarTranslation, trace: AttentionTrace) -> None:
    """Draw all heads for a trace."""
    options, mode = controls.draw(fields.controls_row("heads-controls"), trace)
    if options.words and (note := axes.apart_note(trace)):
        st.caption(note)
    try:
        view, second = view_of(bar, trace, options), None
        # beside the grid and the map, so that neither is mounted anew
        line = st.container(horizontal=True, gap="small", vertical_alignment="center")
        shown = view.options
        if mode == "one head":
            grid, picture = st.columns([5, 7], gap="medium")
            with grid:
                _grid(view, "heads-map")
            with picture:
                st.caption(_lead(shown, trace))
                shown = show_open(bar, view)
                downloads.download_menu(bar, view.trace, view.opened, shown)
        elif mode == "compare":
            st.caption(_lead(shown, trace))
            second = show_compared(bar, trace, view)
            _grid(view, "heads-first")
            compared = replace(shown, compared=second)
            downloads.download_menu(bar, view.trace, view.opened, compared)
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


def view_of(
    bar: BarTranslation,
    trace: AttentionTrace,
    options: ExplorerOptions,
    translator: Translator | None = None,
    prefix: str = "",
) -> HeadsView:
    """Return the view of a trace through a lens, by its own model or that of the sentence bar.

    In the code, the names of its parts begin with the prefix.
    """
    translator = translator or bar.translator
    seen = controls.through_lens(options.lens, trace, translator, name=f"{prefix}seen")
    origin = Origin.from_translator(translator, trace.source, trace.target)
    drawn = HeadsView(seen, options, origin, partial(memo_per_trace, seen))
    kind, layer, head = drawn.kind, drawn.options.layer, drawn.options.head
    choices: dict[str, Any] = {name: getattr(options, name) for name in _OF_HEADS}
    heads = drawn.heads[kind]
    list_result(f"{prefix}heads", heads, open_head.heads_of_kind, seen, kind, **choices)
    list_result(f"{prefix}opened", drawn.opened, open_head.open_map, heads, layer, head)
    return drawn


_OF_HEADS = ("words", "special", "lens", "sinks")
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


def _lead(options: ExplorerOptions, trace: AttentionTrace) -> str:
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


def show_compared(bar: BarTranslation, trace: AttentionTrace, view: HeadsView) -> HeadsView | None:
    """Draw the open map of a trace, a second one and their difference; return the second's view."""
    if (other := second_view(bar, trace, view.options)) is None:
        return None
    if view.opened.labels == other.opened.labels:
        given = view.opened, other.opened
        list_result(
            "first_minus_second", open_head.difference(*given), open_head.difference, *given
        )
    models = [named.origin.model for named in (view, other) if named.origin]
    if len(set(models)) > 1:
        for named, model in zip((view, other), models, strict=True):
            named.opened = replace(named.opened, title=f"{named.opened.title} · {model}")
    columns = st.columns(3, gap="medium")
    first = view.opened.labels
    with columns[0]:
        mounts.mount_map("heads-first", first, partial(view.open_map, beside_difference=True))
    with columns[1]:
        encode = partial(other.open_map, beside_difference=True)
        mounts.mount_map("heads-second", other.opened.labels, encode)
    with columns[2]:
        if not mounts.mount_map("heads-difference", first, partial(view.difference, other)):
            st.text("The two maps have different tokens, so there is no difference to draw.")
            return other
    if view.options.lens != other.options.lens:
        show_disagreement(view, other)
    return other


SHOWN = 5  # length of each list of differences


def second_view(
    bar: BarTranslation, trace: AttentionTrace, options: ExplorerOptions
) -> HeadsView | None:
    """Draw the controls of the second map, and build its view; None after showing why not."""
    translator = bar.translator
    with fields.controls_row("compare-controls"):
        subjects = list(get_args(controls.ComparedWith))
        subject = st.selectbox("Compare with", subjects, key="with", bind="query-params", width=290)
        try:
            if subject == "another head":
                options = _another_head(options, translator, (0, 0))
            elif subject == "another lens":
                options = replace(
                    options,
                    lens=controls.pick_lens(controls.SECOND_LENS, "Second lens", lens="norm"),
                )
            elif subject == "another sentence":
                trace = _another_sentence(translator)
            else:
                name = controls.OTHER_MODEL
                if (choice := other_model.pick_other(bar, name, reverse=True)) is None:
                    return None
                translator, place = choice.translator, (options.layer or 0, options.head or 0)
                options = _another_head(options, translator, place)
                trace = _trace_of_other(choice, bar, trace.target)
                name_model("second_translator", choice.name, translator)
                target = python_code.trace_target(trace, translator)
                list_result("second_trace", trace, translator.trace, trace.source, target=target)
            # of one kind, as its grid is not drawn
            head = options.head if tells_heads(options.lens) else None
            kinds = options.kind and (options.kind,)
            options = replace(options, head=head, kinds=kinds, layers=None)
            return view_of(bar, trace, options, translator, "second_")
        except HeadlightError as error:
            problems.say(error)
            return None


def _another_head(
    options: ExplorerOptions, translator: Translator, default: tuple[int, int]
) -> ExplorerOptions:
    stack = translator.model.config.stack(options.kind or "cross")
    first = min(default[0], stack.N - 1), min(default[1], stack.h - 1)
    layer, head = controls.pick_head_or_mean(
        controls.SECOND, stack.N, stack.h, default=first, lens=options.lens
    )
    return replace(options, layer=layer, head=head)


def _another_sentence(translator: Translator) -> AttentionTrace:
    languages = translator.languages
    first = {language: texts[1:2] for language, texts in source_box.EXAMPLES.items()}
    label = " ".join(filter(None, ("Second", languages.source, "sentence")))
    usual = source_box.follow_language(controls.OTHER_TEXT, languages, first)
    text = text_field(label, usual, key=controls.OTHER_TEXT)
    translation = cached_results.translate(translator, text, st.session_state[sentence_bar.BEAM])
    for line in (translation.text, *translation.notices):
        st.text(line)
    return cached_results.trace(translator, translation)


def _trace_of_other(
    choice: other_model.OtherModel, bar: sentence_bar.BarTranslation, target: str
) -> AttentionTrace:
    """Trace the sentence by another model, with the same translation where it can write it."""
    if choice.same_target or choice.is_reverse:
        # the same translation, so that both maps have the same words
        forced = bar.used.text if choice.is_reverse else target
        return cached_results.trace_of_pair(choice.translator, choice.text, forced)
    beam_size = st.session_state[sentence_bar.BEAM]
    translation = cached_results.translate(choice.translator, choice.text, beam_size)
    st.text(translation.text)
    sentence_bar.show_notices_of(bar, translation)
    return cached_results.trace(choice.translator, translation)


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


def show_disagreement(first: HeadsView, second: HeadsView) -> None:
    """Draw the heads and the rows with the largest differences; a click opens a head."""
    st.subheader("Where the two lenses disagree most", anchor=False)
    st.text(
        "The share of a row that the two lenses give to different tokens. 0: they agree fully; "
        "1: not at all."
    )
    heads, others = first.heads[first.kind], second.heads[second.kind]
    weights, kind, options = heads.whole, first.kind, first.options
    distances = compute("distances", head_distances, weights, others.whole, kind)
    # single heads where both lenses have them
    lens = heads.lens if tells_heads(others.lens) else others.lens
    by_head, by_row = st.columns(2, gap="medium")
    by_head.markdown(f"**By {map_unit(lens)}**, mean over its rows")
    with by_head, st.container(key="disagreeing-heads", horizontal=True, gap="small"):
        for index in np.argsort(-distances, axis=None, kind="stable")[:SHOWN]:
            layer, head = (int(n) for n in np.unravel_index(index, distances.shape))
            name = f"{SCREEN_NAMES[kind]} {short_name(lens, layer, head)}"
            label, key = f"{name} · {distances[layer, head]:.2f}", f"{kind}-{layer}-{head}"
            fields.button(label, f"disagreeing-{key}", controls.choose_head, lens, layer, head)
    maps = (
        mean(x.whole.weights, options.layer, options.head if tells_heads(x.lens) else None)
        for x in (heads, others)
    )
    distances, counted = row_distances(*maps), first_row(weights, kind)  # [query]
    names = row_names(weights.labels.queries, reads=weights.reads, writes=weights.writes)
    by_row.markdown("**By row** of the open map")
    with by_row, st.container(gap=None):
        for row in np.argsort(-distances[counted:], kind="stable")[:SHOWN] + counted:
            st.text(f"{capitalised(names[row])}: {distances[row]:.2f}")


PAGE = Page(
    "heads",
    "Where does each head look?",
    ("head", "encoder", "decoder", "cross-attention", "weight", "lens", "entropy", "end"),
    (all_heads,),
)
