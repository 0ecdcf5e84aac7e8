"""Links between words: the large picture of the page, and a sentence on its method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.alignment import align
from transformer.analysis.alignment_settings import read_alignment
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.markdown import as_markdown
from viz.app.chrome.mounts import mount
from viz.app.sentence.origin import origin_of
from viz.draw.caption import LENS_NAMES
from viz.draw.formatting import counted
from viz.draw.word_links import encode_links, word_texts

if TYPE_CHECKING:
    from transformer.analysis.alignment_settings import AlignmentSettings, GoldFigures
    from transformer.text.languages import Languages

NOTHING = "There is no word to link: the model wrote nothing, or read nothing that is one."


def show_words(translator: Translator, trace: AttentionTrace) -> None:
    """Draw the links between source and target words, and their method."""
    source, target = word_texts(trace.source_pieces), word_texts(trace.target_pieces)
    if not source or not target:
        st.caption(NOTHING)
        return
    settings = read_alignment(translator)
    languages = trace.languages
    method = link_method(settings, languages)
    st.markdown(as_markdown(method))
    data = encode_links(
        source,
        target,
        memo_per_trace(trace, ("word pairs", settings), lambda: align(translator, trace)),
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
    return f"{rule}: {_map_text(settings)}; {_error_text(settings.gold)}."


def _map_text(settings: AlignmentSettings) -> str:
    part = "all heads" if settings.head is None else f"head {settings.head + 1}"
    return f"layer {settings.layer + 1}, {part}, lens: {LENS_NAMES[settings.lens]}"


def _error_text(gold: GoldFigures | None) -> str:
    if gold is None:
        return "never measured on gold text for this checkpoint"
    return f"AER {gold.aer:.1f} % on {counted(gold.sentences, 'gold sentence')} ({gold.name})"
