"""Links between words, and one map of cross-attention piece by piece."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.alignment import align
from transformer.analysis.alignment_settings import AlignmentSettings
from transformer.analysis.axes import apart_note
from transformer.text.languages import Languages
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.explanations import as_markdown
from viz.app.chrome.head_picker import UrlNames, pick_head_number_or_mean, pick_layer
from viz.app.chrome.mounts import mount, mount_map
from viz.app.sentence.sentence_bar import origin_of
from viz.draw.attention_map import encode_map
from viz.draw.caption import LENS_NAMES, Origin, head_caption
from viz.draw.formatting import counted
from viz.draw.labels import head_name
from viz.draw.word_links import encode_links, word_texts

NOTHING = "There is no word to link: the model wrote nothing, or read nothing that is one."


def show_words(translator: Translator, trace: AttentionTrace, settings: AlignmentSettings) -> None:
    """Draw the links between source and target words, and their method."""
    source, target = word_texts(trace.source_pieces), word_texts(trace.target_pieces)
    if not source or not target:
        st.caption(NOTHING)
        return
    languages = trace.languages
    pairs = memo_per_trace(
        trace, ("word pairs", settings), lambda: align(translator, trace, settings)
    )
    method = link_method(settings, languages)
    st.markdown(as_markdown(method))
    if note := apart_note(trace):
        st.caption(note)
    data = encode_links(
        source,
        target,
        pairs,
        made_by=_map_text(settings),
        languages=languages,
        caption=origin_of(trace).caption(method),
    )
    mount("translate-words", data)


def link_method(settings: AlignmentSettings, languages: Languages) -> str:
    """Describe a link, the map that it is read from, and its measured error."""
    source, target = languages.name("source"), languages.name("target")
    if settings.links == "mutual":
        rule = (
            f"Each link joins the {target} and the {source} word that weigh most for each other, "
            f"in the row that {settings.row} the {target} one"
        )
    else:
        rule = (
            f"Each link joins {languages.with_article('target', 'word')} to the {source} word that "
            f"weighs most in the row that {settings.row} it"
        )
    measured, gold = "never measured on gold text for this checkpoint", settings.gold
    if gold is not None:
        sentences = counted(gold.sentences, "gold sentence")
        measured = f"AER {gold.aer:.1f} % on {sentences} ({gold.name})"
    return f"{rule}: {_map_text(settings)}; {measured}."


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
    alignment: AlignmentSettings,
    key: str,
) -> None:
    """Draw the map, its rows named as for the links between words."""
    layer, head = choice
    languages = trace.languages
    # the map of the links names its rows by the word that they read, if the links do
    by_read = choice == (alignment.layer, alignment.head) and alignment.row == "reads"
    if head is None:
        weights = trace.cross[layer].mean(0)  # [query, key]
        title = f"Layer {layer + 1} · mean of its {counted(trace.cross.shape[1], 'head')}"
    else:
        weights = trace.cross[layer, head]  # [query, key]
        title = head_name(layer, head)
    labels = trace.labels("cross", "reads" if by_read else "writes")
    encode = partial(
        encode_map,
        weights,
        labels,
        "cross",
        title=title,
        languages=languages,
        reads=None if by_read else trace.decoder_tokens,
        writes=trace.target_tokens if by_read else None,
        note=f"Each row is {languages.with_article('target', 'piece')} as it is "
        f"{'read' if by_read else 'written'}; its weights on "
        f"{languages.source or 'the source'} sum to 1.",
        caption=Origin.from_translator(translator, trace.source, trace.target).caption(
            head_caption("cross", layer, head)
        ),
    )
    mount_map(key, labels, encode)
