"""Piece by piece: one map of cross-attention, of a head or the mean of a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.alignment_settings import read_alignment
from viz.app.chrome.head_picker import UrlNames, pick_head_number_or_mean, pick_layer
from viz.app.chrome.mounts import mount
from viz.draw.attention_map import encode_map
from viz.draw.caption import Origin, head_caption
from viz.draw.formatting import counted
from viz.draw.labels import head_name

if TYPE_CHECKING:
    from transformer.analysis.alignment_settings import AlignmentSettings
    from transformer.text.languages import Languages

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


def note(languages: Languages, *, by_read: bool) -> str:
    """Describe a row of the map and the sum of its weights."""
    return (
        f"Each row is {languages.with_article('target', 'piece')} as it is "
        f"{'read' if by_read else 'written'}; its weights on "
        f"{languages.source or 'the source'} sum to 1."
    )


def draw_map(translator: Translator, trace: AttentionTrace, choice: MapChoice, key: str) -> None:
    """Draw the map, its rows named as for the links between words."""
    layer, head = choice
    languages = trace.languages
    alignment = read_alignment(translator)
    # the map of the links names its rows by the word that they read, if the links do
    by_read = choice == (alignment.layer, alignment.head) and alignment.row == "reads"
    if head is None:
        weights = trace.cross[layer].mean(0)  # [query, key]
        title = f"Layer {layer + 1} · mean of its {counted(trace.cross.shape[1], 'head')}"
    else:
        weights = trace.cross[layer, head]  # [query, key]
        title = head_name(layer, head)
    data = encode_map(
        weights,
        trace.labels("cross", "reads" if by_read else "writes"),
        "cross",
        title=title,
        languages=languages,
        reads=None if by_read else trace.decoder_tokens,
        writes=trace.target_tokens if by_read else None,
        note=note(languages, by_read=by_read),
        caption=Origin.from_translator(translator, trace.source, trace.target).caption(
            head_caption("cross", layer, head)
        ),
    )
    mount(key, data)
