"""Translate: which word comes from which, and what each German piece looks at as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from transformer import AttentionTrace, Translation, Translator
from transformer.analysis.alignment import align
from transformer.analysis.logits.alternatives import alternatives
from transformer.attention import MultiHeadAttention, attention_scores
from transformer.decoding import beam_search
from transformer.translation import Candidate
from viz.app import sentence_bar
from viz.app.candidates import MARKS, show_candidate
from viz.app.explanations import code_line, explain
from viz.app.formatting import format_number
from viz.app.head_picker import UrlNames, pick
from viz.app.memory import memo_per_trace
from viz.app.mounts import attention_map
from viz.app.origin import origin_of
from viz.draw.caption import of_head
from viz.draw.labels import head_name
from viz.pages.translate.choices import OTHERS, show_choices
from viz.pages.translate.word_picture import show_words

if TYPE_CHECKING:
    from transformer.analysis.alignment_settings import AlignmentSettings

MAP = UrlNames("map_layer", "map_head")
"""In the URL; not the names of the other pages, for only here a mean can be chosen."""

WRITTEN = "Each row is a German piece as it is written; its weights on English sum to 1."
READ = "Each row is a German piece as it is read; its weights on English sum to 1."


def show() -> None:
    """Draw the page for the sentence in the bar."""
    if (trace := sentence_bar.trace()) is None:
        return
    found = sentence_bar.translated()
    assert found is not None  # there is a trace
    translator, translation = found
    show_words(translator, trace)
    picture, beside = st.columns([5, 4], gap="large")
    with picture:
        _map(trace, translator.alignment)
        _candidates(translation)
    with beside:
        _choices(translator, trace)
        explain(
            f"Each row of the decoder reads one token and writes the next; what names it stands "
            f"over the map. The weights are $\\mathrm{{softmax}}(QK^\\top/\\sqrt{{d_k}})$ of "
            f"equation 1 in the encoder-decoder attention of §3.2.3, so each row sums to 1: "
            f"{code_line(attention_scores)}, {code_line(MultiHeadAttention.attend)}. "
            f"They say where the model looked, not why it chose a word. Links between words are "
            f"read from one such map by {code_line(align)}, as Garg et al. (2019) and Kobayashi "
            f"et al. (2020) do; the alignment error rate (AER, Och & Ney 2003) against links that "
            f"people drew is 0 % where all are the same."
        )


def _map(trace: AttentionTrace, alignment: AlignmentSettings) -> None:
    """Piece by piece: opens on the layer and heads that align words best."""
    st.subheader("Piece by piece", anchor=False)
    layers, heads = trace.cross.shape[:2]
    with st.container(key="translate-controls", horizontal=True, gap="small"):
        layer, head = pick(
            MAP, layers, heads, layer=alignment.layer, head=alignment.head, mean=True
        )
    assert layer is not None  # this page offers the mean over heads alone
    # where the links are taken from the row that reads a word, their map is named by what it reads
    is_aligning = (layer, head) == (alignment.layer, alignment.head)
    by_read = is_aligning and alignment.row == "reads"
    if head is None:
        weights = trace.cross[layer].mean(0)  # [query, key]
        title = f"Layer {layer + 1} · mean of its {trace.cross.shape[1]} heads"
    else:
        weights = trace.cross[layer, head]  # [query, key]
        title = head_name(layer, head)
    attention_map(
        weights,
        trace.labels("cross", "reads" if by_read else "writes"),
        "cross",
        title=title,
        reads=None if by_read else trace.decoder_tokens,
        writes=trace.target_tokens if by_read else None,
        key="translate-map",
        note=READ if by_read else WRITTEN,
        caption=origin_of(trace).caption(of_head("cross", layer, head)),
    )


def _choices(translator: Translator, trace: AttentionTrace) -> None:
    """Each piece with its probability, and the next best ones."""
    st.subheader("What else could have stood here", anchor=False)
    show_choices(
        memo_per_trace(
            trace,
            ("alternatives", OTHERS),
            lambda: alternatives(translator.model, translator.target_tokenizer, trace, OTHERS),
        )
    )
    st.caption(
        f"Each piece with its probability, given the English sentence and all pieces before it; "
        f"below it the two most probable others of that step: {code_line(alternatives)}."
    )


def _candidates(translation: Translation) -> None:
    """The other sentences that the search had in hand when it ended, best first."""
    st.subheader("The other sentences of the search", anchor=False)
    best, *others = translation.candidates
    if not others:
        st.caption("The search kept one hypothesis, as a beam of 1 does: nothing to compare.")
        return
    for candidate in others:
        same = " · the same words, in other pieces" if candidate.text == best.text else ""
        show_candidate(candidate.text, best.text, _figures(candidate) + same)
    st.caption(
        f"{MARKS} That one has {_figures(best)}. The score is log p over the length penalty of "
        f"§6.1, so that a short sentence does not win for being short: {code_line(beam_search)}."
    )


def _figures(candidate: Candidate) -> str:
    hypothesis = candidate.hypothesis
    score, log_prob = format_number(hypothesis.score), format_number(hypothesis.log_prob)
    return f"score {score} · log p {log_prob}"
