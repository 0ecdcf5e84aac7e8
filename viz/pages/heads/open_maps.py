"""Large maps of the Heads page: the open map with its ribbons, or two maps side by side."""

from dataclasses import replace
from functools import partial
from typing import Literal, get_args

import numpy as np
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translator
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import head_distances, row_distances, summarise
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals
from transformer.analysis.sinks import first_row, left_out_keys
from viz.app.cache import cached_results
from viz.app.chrome import fields, head_picker, mounts, problems
from viz.app.links import navigation
from viz.app.links.navigation import REMOVE_HEADS, REMOVED, ROLES, VIEW
from viz.app.sentence import other_model, sentence_bar, source_box
from viz.draw.attention_map import MAX_HEADS
from viz.draw.caption import Origin, amount, map_unit, tells_heads
from viz.draw.formatting import format_number
from viz.draw.heads_view import ExplorerOptions, HeadsView, SecondMap
from viz.draw.labels import SCREEN_NAMES, capitalised, display_tokens, quoted, row_names
from viz.draw.open_head import Heads, mean, short_name
from viz.pages.heads.controls import choose_head, pick_head_or_mean
from viz.pages.heads.lens import SECOND_LENS, pick_lens, through_lens


def show_open(view: HeadsView) -> ExplorerOptions:
    """Draw the open map and its ribbons; return the options that show the same ribbons."""
    options = view.options
    mounts.mount_map("heads-map", view.opened.labels, view.open_map)
    show_numbers(view)
    if options.layer is not None and options.head is not None:
        head = Head(view.kind, options.layer, options.head)
        url = head_picker.link_parameters(*head)
        navigation.link("inside", "See how this head computes its weights", url)
        removal_url = {**url, VIEW: REMOVE_HEADS, REMOVED: format_removals([Removal(*head)])}
        navigation.link("roles", "Remove this head and see what changes", removal_url)
        navigation.link("roles", "See what this head does", {**url, VIEW: ROLES})
    st.subheader("Ribbons", anchor=False)
    translator = sentence_bar.drawn_from().translator
    rows = head_picker.pick_row(translator, disabled=view.kind == "encoder_self")
    options = replace(options, rows=rows, over=tuple(_overlaid(view)))
    mounts.mount("heads-ribbons", view.with_options(options).ribbons(options.over))
    return options


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


def show_compared(trace: AttentionTrace, view: HeadsView) -> HeadsView | None:
    """Draw the open map of a trace, a second one and their difference; return the second's view."""
    if (other := second_view(trace, view.options)) is None:
        return None
    models = [named.origin.model for named in (view, other) if named.origin]
    if len(set(models)) > 1:
        for named, model in zip((view, other), models, strict=True):
            named.opened = replace(named.opened, title=f"{named.opened.title} · {model}")
    second = second_map(other)
    columns = st.columns(3, gap="medium")
    first = view.opened.labels
    with columns[0]:
        mounts.mount_map("heads-first", first, partial(view.open_map, beside_difference=True))
    with columns[1]:
        encode = partial(view.second_map, second, beside_difference=True)
        mounts.mount_map("heads-second", second.map.labels, encode)
    with columns[2]:
        if not mounts.mount_map("heads-difference", first, partial(view.difference, second)):
            st.text("The two maps have different tokens, so there is no difference to draw.")
            return other
    if view.options.lens != other.options.lens:
        show_disagreement(view, other)
    return other


def second_map(view: HeadsView) -> SecondMap:
    """Return the open map of a view as the second one of another."""
    return SecondMap(view.opened, view.trace.languages, view.caption())


ComparedWith = Literal["another head", "another lens", "another sentence", "another model"]
SECOND = head_picker.UrlNames("layer2", "head2")
OTHER_TEXT, OTHER_MODEL = "text2", "model2"
_OTHER_TEXTS = {language: texts[1:2] for language, texts in source_box.EXAMPLES.items()}
"""Names in the URL."""

SHOWN = 5
"""Length of each list of differences."""


def second_view(trace: AttentionTrace, options: ExplorerOptions) -> HeadsView | None:
    """Draw the controls of the second map, and build its view; None after showing why not."""
    with fields.controls_row("compare-controls"):
        subject = st.selectbox(
            "Compare with", list(get_args(ComparedWith)), key="with", bind="query-params", width=290
        )
        try:
            if subject == "another head":
                options = _another_head(options, *trace.weights(options.kind or "cross").shape[:2])
                return _second(options, trace, sentence_bar.origin_of(trace))
            if subject == "another lens":
                lens = pick_lens(SECOND_LENS, "Second lens", lens="norm")
                return _second(replace(options, lens=lens), trace, sentence_bar.origin_of(trace))
            if subject == "another sentence":
                return _another_sentence(options)
            return _another_model(options, trace.target)
        except HeadlightError as error:
            problems.say(error)
            return None


def _another_head(
    options: ExplorerOptions, layers: int, heads: int, default: tuple[int, int] = (0, 0)
) -> ExplorerOptions:
    layer, head = pick_head_or_mean(SECOND, layers, heads, default=default, lens=options.lens)
    return replace(options, layer=layer, head=head)


def _another_sentence(options: ExplorerOptions) -> HeadsView:
    translator = sentence_bar.drawn_from().translator
    languages = translator.languages
    text = fields.text_field(
        f"Second {languages.source} sentence" if languages.source else "Second sentence",
        source_box.follow_language(OTHER_TEXT, languages, _OTHER_TEXTS),
        key=OTHER_TEXT,
    )
    translation = cached_results.translate(translator, text, st.session_state[sentence_bar.BEAM])
    st.text(translation.text)
    for notice in translation.notices:
        st.text(notice)
    other = cached_results.trace(translator, translation)
    return _second(options, other, sentence_bar.origin_of(other), translator)


def _another_model(options: ExplorerOptions, target: str) -> HeadsView | None:
    bar = sentence_bar.drawn_from()
    if (choice := other_model.pick_other(bar, OTHER_MODEL, reverse=True)) is None:
        return None
    translator = choice.translator
    stack = translator.model.config.stack(options.kind or "cross")
    same = min(options.layer or 0, stack.N - 1), min(options.head or 0, stack.h - 1)
    options = _another_head(options, stack.N, stack.h, same)
    if choice.same_target or choice.is_reverse:
        # the same translation, so that both maps have the same words
        forced = bar.used.text if choice.is_reverse else target
        other = cached_results.trace_of_pair(translator, choice.text, forced)
    else:
        beam_size = st.session_state[sentence_bar.BEAM]
        translation = cached_results.translate(translator, choice.text, beam_size)
        st.text(translation.text)
        sentence_bar.show_notices_of(translation)
        other = cached_results.trace(translator, translation)
    origin = Origin.from_translator(translator, other.source, other.target)
    return _second(options, other, origin, translator)


def _second(
    options: ExplorerOptions,
    trace: AttentionTrace,
    origin: Origin,
    translator: Translator | None = None,
) -> HeadsView:
    """Build the view of one kind: its grid is not drawn."""
    head = options.head if tells_heads(options.lens) else None
    own = replace(options, head=head, kinds=options.kind and (options.kind,), layers=None)
    return HeadsView(through_lens(options.lens, trace, translator), own, origin)


def show_numbers(view: HeadsView) -> None:
    """Draw the summary of the open map over the rows that have weight, if there are any."""
    options, opened, heads = view.options, view.opened, view.cropped[view.kind]
    if not opened.weights.any():
        return
    axes = heads.axes
    sinks, causal = left_out_keys(axes), axes.is_causal(heads.kind)
    numbers = summarise(opened.weights, causal=causal, sinks=sinks)
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
            name = row_names(opened.labels.queries, reads=opened.reads, writes=opened.writes)[row]
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
    heads = first.cropped[first.kind], second.cropped[second.kind]
    by_head, by_row = st.columns(2, gap="medium")
    with by_head:
        _heads(*heads)
    with by_row:
        _rows(first.options, *heads)


def _heads(first: Heads, second: Heads) -> None:
    distances = head_distances(first.whole, second.whole, first.kind)
    # single heads where both lenses have them
    lens = first.lens if tells_heads(second.lens) else second.lens
    st.markdown(f"**By {map_unit(lens)}**, mean over its rows")
    with st.container(key="disagreeing-heads", horizontal=True, gap="small"):
        for index in np.argsort(-distances, axis=None, kind="stable")[:SHOWN]:
            layer, head = (int(n) for n in np.unravel_index(index, distances.shape))
            st.button(
                f"{SCREEN_NAMES[first.kind]} {short_name(lens, layer, head)} · "
                f"{distances[layer, head]:.2f}",
                key=f"disagreeing-{first.kind}-{layer}-{head}",
                on_click=partial(choose_head, lens, layer, head),
            )


def _rows(options: ExplorerOptions, first: Heads, second: Heads) -> None:
    first_map, second_map = (
        mean(heads.whole.weights, options.layer, options.head if tells_heads(heads.lens) else None)
        for heads in (first, second)
    )
    weights = first.whole
    distances = row_distances(first_map, second_map)  # [query]
    counted = first_row(weights, first.kind)
    names = row_names(weights.labels.queries, reads=weights.reads, writes=weights.writes)
    st.markdown("**By row** of the open map")
    with st.container(gap=None):
        for row in np.argsort(-distances[counted:], kind="stable")[:SHOWN] + counted:
            st.text(f"{capitalised(names[row])}: {distances[row]:.2f}")
