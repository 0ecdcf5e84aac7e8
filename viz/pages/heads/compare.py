"""A second map beside the open one: of another head, lens, sentence or model."""

from __future__ import annotations

from typing import Literal, get_args

import streamlit as st

from transformer import AttentionTrace, HeadlightError
from transformer.analysis.lenses import AnyLens
from viz.app import cached_results, sentence_bar, source_box
from viz.app.fields import text_field
from viz.app.head_picker import UrlNames
from viz.app.origin import origin_of
from viz.app.other_model import pick_other
from viz.app.problems import say
from viz.draw.caption import Origin, head_caption
from viz.draw.explorer_options import SecondMap
from viz.draw.open_head import Heads, heads_of_kind, open_map
from viz.pages.heads.controls import Controls, pick_head_or_mean
from viz.pages.heads.lens import SECOND_LENS, pick_lens, through_lens

ComparedWith = Literal["another head", "another lens", "another sentence", "another model"]
SECOND = UrlNames("layer2", "head2")
OTHER_TEXT, OTHER_MODEL = "text2", "model2"
"""Names in the URL."""


def second_map(controls: Controls, trace: AttentionTrace) -> tuple[SecondMap, Heads] | None:
    """Draw what chooses the second map, and make it.

    Args:
        trace: of the weights, whatever the lens.

    Returns:
        The map, and the heads that it is one of; None after saying why there is none.
    """
    with st.container(
        key="compare-controls", horizontal=True, vertical_alignment="bottom", gap="small"
    ):
        other = st.selectbox(
            "Compare with", list(get_args(ComparedWith)), key="with", bind="query-params", width=290
        )
        try:
            if other == "another head":
                return _another_head(controls, trace)
            if other == "another lens":
                return _another_lens(controls, trace)
            if other == "another sentence":
                return _another_sentence(controls)
            return _another_model(controls, trace)
        except HeadlightError as error:
            say(error)
            return None


def _another_head(controls: Controls, trace: AttentionTrace) -> tuple[SecondMap, Heads]:
    layers, count = trace.cross.shape[:2]
    layer, head = pick_head_or_mean(SECOND, layers, count, layer=0, lens=controls.lens)
    seen = through_lens(controls.lens, trace)
    return _second(controls, seen, controls.lens, layer, head, origin_of(trace))


def _another_lens(controls: Controls, trace: AttentionTrace) -> tuple[SecondMap, Heads]:
    lens = pick_lens(SECOND_LENS, "Second lens", lens="norm")
    seen = through_lens(lens, trace)
    return _second(controls, seen, lens, controls.layer, controls.head, origin_of(trace))


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
    seen = through_lens(controls.lens, other, translator)
    return _second(controls, seen, controls.lens, controls.layer, controls.head, origin_of(other))


def _another_model(controls: Controls, trace: AttentionTrace) -> tuple[SecondMap, Heads] | None:
    if (picked := pick_other(sentence_bar.drawn_from(), OTHER_MODEL)) is None:
        return None
    translator = picked.translator
    layers, count = translator.model.config.N, translator.model.config.h
    layer, head = pick_head_or_mean(SECOND, layers, count, layer=0, lens=controls.lens)
    if picked.same_target:
        # the same translation, so that both look at the same words
        other = cached_results.trace_of_pair(translator, picked.text, trace.target)
    else:
        beam_size = st.session_state[sentence_bar.BEAM]
        translation = cached_results.translate(translator, picked.text, beam_size)
        st.text(translation.text)
        sentence_bar.show_notices_of(translation)
        other = cached_results.trace(translator, translation)
    seen = through_lens(controls.lens, other, translator)
    origin = Origin.of(translator, other.source, other.target)
    return _second(controls, seen, controls.lens, layer, head, origin)


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
