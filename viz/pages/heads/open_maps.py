"""Large maps of the Heads page: the open map with its ribbons, or two maps side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, get_args

import numpy as np
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Kind
from transformer.analysis.heads.measures import (
    first_counted_row,
    head_distances,
    row_distances,
    summarise,
)
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals
from transformer.analysis.lenses import AnyLens
from transformer.config import BOS
from transformer.text.languages import Languages
from transformer.text.tokenizer import SPECIAL
from viz.app.cache import cached_results
from viz.app.chrome.fields import controls_row, text_field
from viz.app.chrome.head_picker import UrlNames, in_link
from viz.app.chrome.mounts import mount
from viz.app.chrome.problems import say
from viz.app.links import navigation
from viz.app.links.navigation import REMOVED, TAKE_AWAY, VIEW
from viz.app.sentence import sentence_bar, source_box
from viz.app.sentence.other_model import pick_other
from viz.app.sentence.sentence_bar import origin_of
from viz.draw.attention_map import encode_map
from viz.draw.caption import Origin, head_caption
from viz.draw.explorer_options import SecondMap
from viz.draw.formatting import format_number
from viz.draw.labels import capitalised, display_tokens, quoted, row_names
from viz.draw.lens_words import amount, row_note, tells_heads
from viz.draw.open_head import Heads, OpenMap, heads_of_kind, mean, open_map, outlined, short_name
from viz.draw.ribbons import MOST_HEADS, encode_ribbons
from viz.pages.heads.controls import Controls, choose_head, pick_head_or_mean
from viz.pages.heads.lens import SECOND_LENS, pick_lens, through_lens


def show_open(
    trace: AttentionTrace, controls: Controls, heads: Heads, opened: OpenMap
) -> list[tuple[int, int]]:
    """Draw the open map and its ribbons; return the heads whose ribbons overlay its own."""
    caption = _caption(trace, controls)
    _map(controls, opened, trace.languages, caption, key="heads-map")
    show_numbers(controls, heads, opened)
    if controls.layer is not None and controls.head is not None:
        url = in_link(controls.kind, controls.layer, controls.head)
        navigation.link("inside", "how this head comes to its weights", url)
        removal = format_removals([Removal(controls.kind, controls.layer, controls.head)])
        removal_url = {**url, VIEW: TAKE_AWAY, REMOVED: removal}
        navigation.link("roles", "take this head away", removal_url)
    st.subheader("Ribbons", anchor=False)
    over = _overlaid(controls, heads)
    maps = [open_map(heads, *place) for place in over]
    names = [short_name(controls.lens, *place) for place in over]
    ribbons = encode_ribbons(
        [(opened.title, opened.weights)]
        + [(name, url.weights) for name, url in zip(names, maps, strict=True)],
        opened.labels,
        heads.kind,
        languages=trace.languages,
        threshold=controls.threshold,
        amount=amount(heads.lens),
        reads=opened.reads,
        writes=opened.writes,
        caption=caption,
    )
    mount("heads-ribbons", ribbons)
    return over


def _overlaid(controls: Controls, heads: Heads) -> list[tuple[int, int]]:
    """Draw the menu of overlaid ribbons; return layer and head of each."""
    places = [*np.ndindex(heads.axes.weights.shape[:2])]
    named = {short_name(controls.lens, *place): place for place in places}
    subject, key = ("heads", "over") if tells_heads(controls.lens) else ("layers", "over_layers")
    others = st.multiselect(
        f"Overlay other {subject}",
        list(named),
        max_selections=MOST_HEADS - 1,
        key=key,
        bind="query-params",
        placeholder=f"Choose {subject} of the same kind",
    )
    opened_place = outlined(controls.lens, controls.layer, controls.head)
    # in the order of the menu, as the ribbons and their switches
    return [named[name] for name in others if named[name] != opened_place]


def show_compared(
    trace: AttentionTrace, controls: Controls, heads: Heads, first: OpenMap
) -> SecondMap | None:
    """Draw the open map, a second one and their difference; return the second one."""
    result = second_map(controls, trace)
    if result is None:
        return None
    compared, second_heads = result
    second, languages, caption = compared
    first_caption = _caption(trace, controls)
    columns = st.columns(3, gap="medium")
    with columns[0]:
        _map(
            controls,
            first,
            trace.languages,
            first_caption,
            beside_difference=True,
            key="heads-first",
        )
    with columns[1]:
        _map(controls, second, languages, caption, beside_difference=True, key="heads-second")
    with columns[2]:
        if first.labels != second.labels:
            st.text("A difference needs the same tokens along both axes; these maps differ there.")
            return compared
        difference = encode_map(
            first.weights - second.weights,
            first.labels,
            controls.kind,
            title="first minus second",
            languages=trace.languages,
            reads=first.reads,
            writes=first.writes,
            signed=True,
            note=None if controls.special else "Each square is first minus second.",
            caption=["First:", *first_caption, "Second:", *caption],
        )
        mount("heads-difference", difference)
    if first.lens != second.lens:
        show_disagreement(controls, heads, second_heads)
    return compared


def _caption(trace: AttentionTrace, controls: Controls) -> list[str]:
    return origin_of(trace).caption(
        head_caption(controls.kind, controls.layer, controls.head, controls.lens)
    )


def _map(
    controls: Controls,
    drawn: OpenMap,
    languages: Languages,
    caption: Sequence[str],
    *,
    key: str,
    beside_difference: bool = False,
) -> None:
    note = row_note(drawn.lens, controls.kind)
    if drawn.absorbed is not None:
        left_out = (
            f"Special tokens are left out: {drawn.absorbed:.0%} of these rows' "
            f"{amount(drawn.lens)} goes there."
        )
        # the note on weights says that rows sum to 1, which is not so here
        note = left_out if drawn.lens == "weights" else f"{note} {left_out}"
    data = encode_map(
        drawn.weights,
        drawn.labels,
        controls.kind,
        title=drawn.title,
        languages=languages,
        reads=drawn.reads,
        writes=drawn.writes,
        scale=controls.scale,
        threshold=controls.threshold,
        amount=amount(drawn.lens),
        note=note,
        beside_difference=beside_difference,
        caption=caption,
    )
    mount(key, data)


ComparedWith = Literal["another head", "another lens", "another sentence", "another model"]
SECOND = UrlNames("layer2", "head2")
OTHER_TEXT, OTHER_MODEL = "text2", "model2"
"""Names in the URL."""


def second_map(controls: Controls, trace: AttentionTrace) -> tuple[SecondMap, Heads] | None:
    """Draw the controls of the second map, and build it.

    Returns:
        The map and the heads of its kind; None after showing why there is none.
    """
    with controls_row("compare-controls"):
        subject = st.selectbox(
            "Compare with", list(get_args(ComparedWith)), key="with", bind="query-params", width=290
        )
        try:
            if subject == "another head":
                return _another_head(controls, trace)
            if subject == "another lens":
                return _another_lens(controls, trace)
            if subject == "another sentence":
                return _another_sentence(controls)
            return _another_model(controls, trace)
        except HeadlightError as error:
            say(error)
            return None


def _another_head(controls: Controls, trace: AttentionTrace) -> tuple[SecondMap, Heads]:
    layers, count = trace.cross.shape[:2]
    layer, head = pick_head_or_mean(SECOND, layers, count, layer=0, lens=controls.lens)
    lens_trace = through_lens(controls.lens, trace)
    return _second(controls, lens_trace, controls.lens, layer, head, origin_of(trace))


def _another_lens(controls: Controls, trace: AttentionTrace) -> tuple[SecondMap, Heads]:
    lens = pick_lens(SECOND_LENS, "Second lens", lens="norm")
    lens_trace = through_lens(lens, trace)
    return _second(controls, lens_trace, lens, controls.layer, controls.head, origin_of(trace))


def _another_sentence(controls: Controls) -> tuple[SecondMap, Heads]:
    translator = sentence_bar.drawn_from().translator
    languages = translator.languages
    text = text_field(
        f"Second {languages.source} sentence" if languages.source else "Second sentence",
        source_box.follow_language(OTHER_TEXT, languages, source_box.EXAMPLES[1]),
        key=OTHER_TEXT,
    )
    translation = cached_results.translate(translator, text, st.session_state[sentence_bar.BEAM])
    st.text(translation.text)
    for notice in translation.notices:
        st.text(notice)
    other = cached_results.trace(translator, translation)
    lens_trace = through_lens(controls.lens, other, translator)
    return _second(
        controls, lens_trace, controls.lens, controls.layer, controls.head, origin_of(other)
    )


def _another_model(controls: Controls, trace: AttentionTrace) -> tuple[SecondMap, Heads] | None:
    if (choice := pick_other(sentence_bar.drawn_from(), OTHER_MODEL)) is None:
        return None
    translator = choice.translator
    layers, count = translator.model.config.N, translator.model.config.h
    layer, head = pick_head_or_mean(SECOND, layers, count, layer=0, lens=controls.lens)
    if choice.same_target:
        # the same translation, so that both maps have the same words
        other = cached_results.trace_of_pair(translator, choice.text, trace.target)
    else:
        beam_size = st.session_state[sentence_bar.BEAM]
        translation = cached_results.translate(translator, choice.text, beam_size)
        st.text(translation.text)
        sentence_bar.show_notices_of(translation)
        other = cached_results.trace(translator, translation)
    lens_trace = through_lens(controls.lens, other, translator)
    origin = Origin.from_translator(translator, other.source, other.target)
    return _second(controls, lens_trace, controls.lens, layer, head, origin)


def _second(
    controls: Controls,
    trace: AttentionTrace,
    lens: AnyLens,
    layer: int | None,
    head: int | None,
    origin: Origin,
) -> tuple[SecondMap, Heads]:
    heads = heads_of_kind(
        trace, controls.kind, words=controls.words, special=controls.special, lens=lens
    )
    caption = origin.caption(head_caption(controls.kind, layer, head, lens))
    return SecondMap(open_map(heads, layer, head), trace.languages, caption), heads


def show_numbers(controls: Controls, heads: Heads, opened: OpenMap) -> None:
    """Draw the summary of the open map over the shown rows, special tokens included."""
    causal = heads.whole.is_causal(heads.kind)
    numbers = summarise(mean(heads.whole.weights, controls.layer, controls.head), causal=causal)
    unit = "word" if controls.words else "piece"
    quantity = amount(heads.lens)
    if heads.lens == "weights":
        low, high = (
            f"looks at one {unit} alone",
            f"looks at all {unit}s that it sees alike",
        )
    else:
        low, high = f"has one {unit} alone", f"has all {unit}s that it sees alike"
    included = "" if controls.special else " Special tokens count here, although they are hidden."
    with st.container(horizontal=True, gap="medium"):
        st.metric(
            "Entropy",
            f"{numbers.entropy:.2f} bit",
            help=f"Mean over the rows: 0 where each {low}, {numbers.max_entropy:.2f} where each "
            f"{high}.{included}",
            width="content",
        )
        with st.container(key="largest", gap=None, width="content"):
            row, column, weight = _largest(opened, heads.kind)
            st.metric(f"Largest {quantity}", f"{weight:.2f}", width="content")
            name = row_names(opened.labels.queries, reads=opened.reads, writes=opened.writes)[row]
            key = quoted(display_tokens(opened.labels.keys)[column])
            verb = "looks at" if heads.lens == "weights" else "gives it to"
            st.text(f"{capitalised(name)} {verb} {key}")
        if heads.kind != "cross":
            st.metric(
                "Offset",
                f"{format_number(numbers.offset, 1, sign=True)} ± {numbers.offset_deviation:.1f}",
                help=f"How far from itself a position looks, in {unit}s: mean and standard "
                f"deviation over all {quantity}s; below 0 is back, above 0 is ahead.{included}",
                width="content",
            )


def _largest(opened: OpenMap, kind: Kind) -> tuple[int, int, float]:
    """Return row, column and value of the largest drawn weight.

    The decoder's first row sees itself alone, so its 1 counts only where it is the only row.
    """
    alone = kind == "decoder_self" and opened.labels.queries[0] == SPECIAL[BOS]
    first = first_counted_row(len(opened.weights), causal=alone)
    counted = opened.weights[first:]
    row, column = np.unravel_index(int(counted.argmax()), counted.shape)
    return int(row) + first, int(column), float(counted[row, column])


SHOWN = 5
"""Length of each list."""


def show_disagreement(controls: Controls, first: Heads, second: Heads) -> None:
    """Draw the heads and the rows with the largest differences; a click opens a head."""
    st.subheader("Where the two lenses disagree most", anchor=False)
    hidden = "" if controls.special else " Special tokens count here, although they are hidden."
    st.text(
        "The share of a row that one lens has for other tokens than the other one does: 0 where "
        f"they say the same, 1 where they agree on nothing.{hidden}"
    )
    by_head, by_row = st.columns(2, gap="medium")
    with by_head:
        _heads(first, second)
    with by_row:
        _rows(controls, first, second)


def _heads(first: Heads, second: Heads) -> None:
    distances = head_distances(first.whole, second.whole, first.kind)
    # single heads where both lenses have them
    lens = first.lens if tells_heads(second.lens) else second.lens
    subject = "head" if tells_heads(lens) else "layer, all heads together"
    st.markdown(f"**By {subject}**, mean over its rows")
    with st.container(key="disagreeing-heads", horizontal=True, gap="small"):
        for index in np.argsort(-distances, axis=None, kind="stable")[:SHOWN]:
            layer, head = (int(n) for n in np.unravel_index(index, distances.shape))
            st.button(
                f"{short_name(lens, layer, head)} · {distances[layer, head]:.2f}",
                key=f"disagreeing-{layer}-{head}",
                on_click=partial(choose_head, lens, layer, head),
            )


def _rows(controls: Controls, first: Heads, second: Heads) -> None:
    first_map, second_map = (
        mean(
            heads.whole.weights, controls.layer, controls.head if tells_heads(heads.lens) else None
        )
        for heads in (first, second)
    )
    weights = first.whole
    distances = row_distances(first_map, second_map)  # [query]
    counted = first_counted_row(len(distances), causal=weights.is_causal(first.kind))
    names = row_names(weights.labels.queries, reads=weights.reads, writes=weights.writes)
    st.markdown("**By row** of the open map")
    with st.container(gap=None):
        for row in np.argsort(-distances[counted:], kind="stable")[:SHOWN] + counted:
            st.text(f"{capitalised(names[row])}: {distances[row]:.2f}")
