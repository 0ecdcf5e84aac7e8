"""Links between words, shares of the source, one map and its numbers."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, Translator, kinds
from transformer.analysis import axes
from transformer.analysis.alignment import aligned_shares, strongest
from transformer.analysis.alignment_settings import AlignmentSettings, read_alignment
from transformer.analysis.both_directions import combine
from transformer.analysis.heads.head import Head
from transformer.analysis.sinks import without_sinks
from transformer.analysis.source_share import SourceShares, by_words, source_shares
from transformer.attention import MultiHeadAttention, attention_scores
from transformer.paper.arithmetic import arithmetic, sublayer_values
from transformer.text.languages import Languages
from viz.app.chrome import head_picker, mounts
from viz.app.chrome.explanations import SOURCE_SHARE_LIMITS, as_markdown, function_name, help_of
from viz.app.links import address, first_steps, navigation
from viz.app.sentence.player import show_player, watched_head
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Job, cached, compute, compute_in_job, list_call, list_file, list_result
from viz.draw import attention_map, caption, player, trace_message
from viz.draw.caption import LENS_NAMES, Origin, head_caption, title_end
from viz.draw.formatting import counted, format_number, per_cent
from viz.draw.heads_view import ExplorerOptions
from viz.draw.labels import ROW_VERBS, display_tokens, head_title, named_head
from viz.draw.left_out import left_out
from viz.draw.open_head import mean
from viz.draw.word_links import TITLE, encode_links, error_text, map_text, word_texts
from viz.figures.heads import head_map
from viz.pages.translate import both_links, break_it

NUMBERS = "numbers"  # name in the URL of the open ribbon: kind, layer, head, row and column, from 1


def take_click(sent: object, trace: AttentionTrace) -> None:
    """Put what was clicked in the player into the address: a ribbon, a head, or an end."""
    if (place := player.head_of(sent, trace)) is not None:
        numbers = (str(place[name] + 1) for name in ("layer", "head", "query", "key"))
        address.choose(NUMBERS, "-".join([place["kind"], *numbers]))
    elif sent == {"closed": True}:
        address.choose(NUMBERS, None)
    elif isinstance(sent, dict) and sent.keys() == {"watched"}:
        name = sent["watched"]
        address.choose(address.WATCHED, name if watched_head(name, trace) else None)
    else:
        break_it.take_count(sent)


def opened_numbers(trace: AttentionTrace) -> dict[str, Any] | None:
    """Return the ribbon that the address names, if the trace has it."""
    kind, *numbers = st.query_params.get(NUMBERS, "").split("-")
    if len(numbers) != 4 or not all(n.isascii() and n.isdecimal() for n in numbers):
        return None
    names = ("layer", "head", "query", "key")
    given = {name: int(n[:6]) - 1 for name, n in zip(names, numbers, strict=True)}
    return player.head_of({"kind": kind, **given}, trace)


def show_numbers(bar: BarTranslation) -> None:
    """Draw the numbers of the open ribbon, if there is one."""
    trace = bar.trace
    if (place := opened_numbers(trace)) is None:
        return
    kind, layer, head, query, key = place.values()
    values = cached(sublayer_values, bar.translator.model, trace, kind, layer)
    d_k = values.q.shape[-1]
    row = arithmetic(values, head, query, 1 / math.sqrt(d_k))
    labels = trace.labels(kind, "writes" if kind == "cross" else "reads")
    looked = display_tokens(labels.keys)
    # the player names a row of the decoder by the word that it writes
    reader = display_tokens(trace.labels(kind, "writes").queries)[query]
    mounts.mount(player.NUMBERS, player.encode_numbers(place, row, reader, looked))
    added = np.linalg.norm(row.weighted, axis=-1)
    title = named_head(kind, layer, head)
    with st.container(key="numbers"):
        heading, close = st.columns([9, 1])
        heading.subheader(f"Why {title} looks at “{looked[key]}”: the numbers", anchor=False)
        close.button("Close", key="numbers-close", on_click=address.choose, args=(NUMBERS, None))
        text = (
            f"q · k is {format_number(row.dots[key])}. Divided by √{d_k} it is the score "
            f"{format_number(row.scaled[key])}. The softmax over the row makes it "
            f"{per_cent(float(row.weights[key]))}. That share of the value vector of "
            f"“{looked[key]}” goes into the output. Its length is "
            f"{format_number(float(added[key]))}; the whole output has length "
            f"{format_number(float(np.linalg.norm(row.z)))}."
        )
        st.markdown(as_markdown(text))
        picture, table = st.columns([5, 4], gap="large")
        with picture:
            data = attention_map.encode_map(
                trace.weights(kind)[layer, head],
                attention_map.MapAxes.of(trace, kind),
                title=title,
                pinned=query,
                caption=bar.origin.caption(caption.head_caption(kind, layer, head)),
            )
            mounts.mount("numbers-map", data)
        with table:
            columns = {
                "looks at": looked,
                "q · k": row.dots,
                f"÷ √{d_k}": np.where(row.seen, row.scaled, np.nan),
                "weight": row.weights,
                "length of weight × value": added,
            }
            frame = pd.DataFrame(columns).iloc[: len(row.dots)]
            styled = frame.style.format(precision=3).apply(
                lambda cells: ["font-weight: 700" if cells.name == key else ""] * len(cells), axis=1
            )
            st.dataframe(styled, hide_index=True, height=min(38 * (len(frame) + 1), 420))
            navigation.plain_link("inside", "See every step of this row", _row_choices(place))
            url = head_picker.link_parameters(kind, layer, head)
            navigation.plain_link("heads", "Compare with all heads", url)
            attend = function_name(MultiHeadAttention.attend)
            st.caption(f"{function_name(attention_scores)}, {attend}")


TERMS = (
    "head", "encoder", "decoder", "cross-attention", "weight", "beam", "alignment error",
)  # fmt: skip
"""That the help explains, of `explanations.TERMS`."""

WHERE_FROM = "where_from"  # name of the switch in the URL


def pick_shares(translator: Translator, trace: AttentionTrace) -> SourceShares | None:
    """Draw the switch “Where it comes from”; return the shares of the words where it is on."""
    if not st.toggle("Where it comes from", key=WHERE_FROM, bind="query-params"):
        return None
    job = Job("Sharing out each layer's output", at_once=200)
    shares = compute_in_job("shares_of_pieces", job, source_shares, translator, trace)
    return compute("shares_of_words", by_words, shares, trace)


def explain_shares(shares: SourceShares, trace: AttentionTrace, words: int) -> None:
    """Draw what the bars show, with means over the first so many written words, and the limits."""
    source, target = (trace.languages.name(side) for side in ("source", "target"))
    means = (float(values[:words].mean()) for values in (shares.from_source, shares.on_sinks))
    share, on_sinks = map(per_cent, means)
    text = (
        f"Bars, 0 to 1. Under each {target} word: its share that comes from the {source} sentence, "
        f"the rest from what was written before ({share} on average). Under each {source} word: "
        f"its largest share in any {target} word. Of cross-attention, {on_sinks} goes to sinks: "
        f"special tokens and punctuation. Subwords are summed in the {source} line and averaged in "
        f"the {target} one."
    )
    st.caption(as_markdown(text))
    st.caption(f"{as_markdown(SOURCE_SHARE_LIMITS)} {function_name(source_shares)}")


def _row_choices(place: Mapping[str, Any]) -> dict[str, str]:
    """Return the choices that open the row and the key of a ribbon on the page “Inside a head”."""
    head = head_picker.link_parameters(place["kind"], place["layer"], place["head"])
    return {**head, "word": str(place["query"] + 1), "key": str(place["key"] + 1)}


def _show_steps(place: DeltaGenerator, trace: AttentionTrace, watched: Head | None) -> None:
    """Draw the first steps, whose next one opens on what was clicked: a ribbon, or a head."""
    choices = watched and head_picker.link_parameters(*watched)
    if (ribbon := opened_numbers(trace)) is not None:
        choices = _row_choices(ribbon)
    with place:
        first_steps.show("translate", choices)


NOTHING = "There is no word to link: the sentence or its translation has none."


def show_words(
    bar: BarTranslation, trace: AttentionTrace, settings: AlignmentSettings
) -> AlignmentSettings | both_links.BothLinks | None:
    """Draw the player, whose last state is the links between words; return what made the links."""
    translator, languages = bar.translator, trace.languages
    source, target = word_texts(trace.source_pieces), word_texts(trace.target_pieces)
    picture = st.container()
    take = partial(take_click, trace=trace)
    way_on = st.container(key="way-on")
    show_numbers(bar)
    broken = st.container(key="break-it")
    if not source or not target:
        with picture:
            _, watched = show_player(bar, trace, on_pick=take)
        _show_steps(way_on, trace, watched)
        st.caption(NOTHING)
        return None
    problems, shares_of_words, about_links = (
        st.container(key="second-model"),
        st.container(),
        st.container(),
    )
    with st.popover("Options", key="translate-words-controls"):
        both = both_links.pick_both(translator, trace, problems)
        drawn = (
            replace(settings, row=head_picker.pick_row(translator)) if both is None else settings
        )
        from_source = pick_shares(translator, trace)
    if both is None:
        title, dashed, made_by, linked = TITLE, "", map_text(settings), None
        list_file("settings", settings, settings, read_alignment, translator)
        list_result("drawn_settings", drawn, replace, settings, row=drawn.row)
        shares = compute("aligned", aligned_shares, translator, trace, drawn)
        pairs = compute("every_link", strongest, shares, "each")
        solid = compute("links", strongest, shares, "mutual")
        method = link_method(settings, languages, drawn.row)
        parts = [head_caption("cross", settings.layer, settings.head, settings.lens), method]
    else:
        title, dashed, used = both_links.TITLE, both_links.DASHED, both.settings
        made_by = f"{map_text(used.forward)}; back: {map_text(used.reverse)}"
        solid = compute("links", combine, both.shares, used, used.rule)
        union = compute("union", combine, both.shares, used, "union")
        pairs = tuple(sorted({*solid, *union}))
        method = both_links.both_method(both, languages)
        linked = player.Linked(None, f"{both_links.TITLE}.")
        parts = [method]
    with picture:
        key, watched = show_player(
            bar, trace, settings=settings, mutual=solid, every=pairs, linked=linked, on_pick=take
        )
    _show_steps(way_on, trace, watched)
    with broken:
        break_it.show_break(bar, trace)
    if from_source is not None:
        with shares_of_words:
            st.subheader(title, anchor=False, help=help_of(TERMS))
            data = encode_links(
                key,
                trace_message.about(languages, bar.origin.made_by),
                trace_message.word_links(pairs, solid),
                title=title,
                made_by=made_by,
                dashed=dashed,
                shares=from_source,
                parts=parts,
            )
            mounts.mount("translate-words", data)
            explain_shares(from_source, trace, len(target))
    with about_links:
        st.caption(as_markdown(method))
        if note := axes.apart_note(trace):
            st.caption(note)
        if both is None and settings.head is not None:
            head = Head("cross", settings.layer, settings.head)
            card = {**head_picker.link_parameters(*head), navigation.VIEW: navigation.ROLES}
            navigation.link("roles", f"See what {named_head(*head)} does", card)
    return both or drawn


def link_method(settings: AlignmentSettings, languages: Languages, row: kinds.Row) -> str:
    """Describe a link, the map and the row that it is read from, and its measured error."""
    text = (
        f"A solid link joins two words that are each other’s strongest match in "
        f"{map_text(settings)} when the decoder {ROW_VERBS[row]} the "
        f"{languages.name('target')} word"
    )
    gold = settings.gold
    if gold is None:
        return f"{text}. These links were never compared with links that people drew."
    if row != settings.row:
        verb = ROW_VERBS[settings.row]
        return f"{text}. Their error was measured only for links when it {verb} the word."
    links = "Solid links" if settings.links == "mutual" else "Solid and dashed links"
    return f"{text}. {links}: {error_text(gold)}."


MAP = head_picker.UrlNames("map_layer", "map_head")
"""Names in the URL; they differ from those of other pages, which have no mean."""


class MapChoice(NamedTuple):
    """Layer and head of the map, from 0; the head is None for the mean."""

    layer: int
    head: int | None
    sinks: bool


def pick_map(trace: AttentionTrace, alignment: AlignmentSettings) -> MapChoice:
    """Draw the menus; their default is the layer and head that align words best."""
    layers, heads = trace.cross.shape[:2]
    with st.container(key="translate-controls", horizontal=True, gap="small"):
        return MapChoice(
            head_picker.pick_layer(MAP.layer, layers, default=alignment.layer),
            head_picker.pick_number_or_mean("Head", MAP.head, heads, default=alignment.head),
            head_picker.pick_sinks(),
        )


def draw_map(
    translator: Translator, trace: AttentionTrace, choice: MapChoice, key: str, *, name: str = ""
) -> None:
    """Draw the map, each row between what the decoder reads and what it writes there.

    If its weights have a name, they are in the code.
    """
    layer, head, sinks = choice
    drawn = trace if sinks else cached(without_sinks, trace, "cross")
    every = counted(trace.cross.shape[1], "cross-attention head")
    title = f"Layer {layer + 1} · mean of its {every}"
    if head is not None:
        title = head_title("cross", layer, head)
    weights, axes = mean(drawn.cross, layer, head), attention_map.MapAxes.of(trace, "cross")
    if name:
        if not sinks:
            list_result("drawn", drawn, without_sinks, trace, "cross")
        list_result(name, weights, mean, drawn.cross, layer, head)
        list_call(head_map, weights, *axes.labels, kind="cross", languages=trace.languages)
    encode = partial(
        attention_map.encode_map,
        weights,
        axes,
        title=" · ".join([title, *title_end("weights", sinks=sinks)]),
        note=f"Each step reads the {trace.languages.name('target')} subword at its left and "
        f"predicts the one at its right; its weights on {trace.languages.source or 'the source'} "
        f"{'sum' if sinks else 'are scaled'} to 1.",
        caption=Origin.from_translator(translator, trace.source, trace.target).caption(
            head_caption("cross", layer, head, sinks=sinks)
        ),
    )
    mounts.mount_map(key, axes.labels, encode)
    if not sinks:
        st.caption(as_markdown(left_out(trace, "cross", ExplorerOptions("cross", layer, head))))


def link_norms(choice: MapChoice) -> None:
    """Draw the link to the lens of norms on the head of the map, with its sinks."""
    url = head_picker.link_parameters("cross", choice.layer, choice.head)
    lens = {"lens": LENS_NAMES["norm"], head_picker.WITHOUT_SINKS: "false"}
    navigation.link("heads", "See the lens norms", url | lens)
