"""Links between words, and one map of cross-attention piece by piece."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.alignment import aligned_shares, strongest
from transformer.analysis.alignment_settings import AlignmentSettings
from transformer.analysis.axes import apart_note
from transformer.analysis.heads.head import Head
from transformer.kinds import Row
from transformer.text.languages import Languages
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.explanations import as_markdown
from viz.app.chrome.head_picker import (
    UrlNames,
    link_parameters,
    pick_head_number_or_mean,
    pick_layer,
    pick_row,
)
from viz.app.chrome.mounts import mount, mount_map
from viz.app.links import navigation
from viz.app.sentence.sentence_bar import origin_of
from viz.draw.attention_map import encode_map
from viz.draw.caption import LENS_NAMES, Origin, head_caption
from viz.draw.formatting import counted
from viz.draw.labels import head_name
from viz.draw.word_links import encode_links, error_text, word_texts

NOTHING = "There is no word to link: the model wrote nothing, or read nothing that is one."


def show_words(translator: Translator, trace: AttentionTrace, settings: AlignmentSettings) -> None:
    """Draw the links between source and target words, and their method."""
    source, target = word_texts(trace.source_pieces), word_texts(trace.target_pieces)
    if not source or not target:
        st.caption(NOTHING)
        return
    languages = trace.languages
    drawn = replace(settings, row=pick_row(translator))
    shares = memo_per_trace(
        trace, ("word shares", drawn), lambda: aligned_shares(translator, trace, drawn)
    )
    method = link_method(settings, languages, drawn.row)
    st.markdown(as_markdown(method))
    if note := apart_note(trace):
        st.caption(note)
    data = encode_links(
        source,
        target,
        strongest(shares, "each"),
        mutual=strongest(shares, "mutual"),
        made_by=_map_text(settings),
        languages=languages,
        caption=origin_of(trace).caption(method),
    )
    mount("translate-words", data)
    if settings.head is not None:
        card = link_parameters(*Head("cross", settings.layer, settings.head))
        card[navigation.VIEW] = navigation.ROLES
        navigation.link("roles", "the head of these links", card)


def link_method(settings: AlignmentSettings, languages: Languages, row: Row) -> str:
    """Describe a link, the map and the row that it is read from, and its measured error."""
    source = languages.name("source")
    text = (
        f"Each link joins {languages.with_article('target', 'word')} to the {source} word that "
        f"weighs most in the row that {row} it: {_map_text(settings)}"
    )
    gold = settings.gold
    if gold is None:
        return f"{text}; never measured on gold text for this checkpoint."
    if row != settings.row:
        return f"{text}; measured on gold text only in the row that {settings.row} the word."
    links = "the links that hold both ways" if settings.links == "mutual" else "all links"
    return f"{text}. Of {links}, {error_text(gold)}."


def _map_text(settings: AlignmentSettings) -> str:
    part = "all heads" if settings.head is None else f"head {settings.head + 1}"
    return f"layer {settings.layer + 1}, {part}, lens: {LENS_NAMES[settings.lens]}"


MAP = UrlNames("map_layer", "map_head")
"""Names in the URL; they differ from those of other pages, which have no mean."""


class MapChoice(NamedTuple):
    """Layer and head of the map, from 0; the head is None for the mean."""

    layer: int
    head: int | None


def pick_map(trace: AttentionTrace, alignment: AlignmentSettings) -> MapChoice:
    """Draw the menus; their default is the layer and head that align words best."""
    layers, heads = trace.cross.shape[:2]
    with st.container(key="translate-controls", horizontal=True, gap="small"):
        return MapChoice(
            pick_layer(MAP.layer, layers, default=alignment.layer),
            pick_head_number_or_mean(MAP.head, heads, default=alignment.head),
        )


def draw_map(
    translator: Translator,
    trace: AttentionTrace,
    choice: MapChoice,
    key: str,
) -> None:
    """Draw the map, each row between what the decoder reads and what it writes there."""
    layer, head = choice
    languages = trace.languages
    if head is None:
        weights = trace.cross[layer].mean(0)  # [query, key]
        title = f"Layer {layer + 1} · mean of its {counted(trace.cross.shape[1], 'head')}"
    else:
        weights = trace.cross[layer, head]  # [query, key]
        title = head_name(layer, head)
    labels = trace.labels("cross", "writes")
    encode = partial(
        encode_map,
        weights,
        labels,
        "cross",
        title=title,
        languages=languages,
        reads=trace.decoder_tokens,
        note=f"Each row reads the {languages.name('target')} piece at its left and writes the one "
        f"at its right; its weights on {languages.source or 'the source'} sum to 1.",
        caption=Origin.from_translator(translator, trace.source, trace.target).caption(
            head_caption("cross", layer, head)
        ),
    )
    mount_map(key, labels, encode)
