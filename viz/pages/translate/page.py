"""Translate: which English piece each German piece looks at while it is written."""

from __future__ import annotations

import streamlit as st

from transformer import AttentionTrace, Translation, Translator
from transformer.analysis.alternatives import alternatives
from transformer.attention import MultiHeadAttention, attention_scores
from transformer.decoding import beam_search
from transformer.translator import Candidate
from viz.app import sentence_bar, serving
from viz.app.candidates import MARKS, show_candidate
from viz.app.explanations import code_line, explain, lead
from viz.app.formatting import format_number
from viz.app.head_picker import UrlNames, pick
from viz.app.memory import memo_per_trace
from viz.app.mounts import attention_map
from viz.app.origin import origin_of
from viz.draw.caption import of_head
from viz.draw.labels import head_name
from viz.pages.translate.choices import OTHERS, show_choices

MAP = UrlNames("map_layer", "map_head")
"""In the URL; not the names of the other pages, for only here a mean can be chosen."""


def show() -> None:
    """Draw the page for the sentence in the bar."""
    if (trace := sentence_bar.trace()) is None:
        return
    found = sentence_bar.translated()
    assert found is not None  # there is a trace
    translator, translation = found
    layers, heads = trace.cross.shape[:2]
    with st.container(key="translate-controls", horizontal=True, gap="small"):
        layer, head = pick(MAP, layers, heads, layer=serving.aligning_layer(translator), mean=True)
    assert layer is not None  # this page offers the mean over heads alone
    lead(
        "Each row is a German piece at the moment when it is written, each column an English "
        "piece: the stronger the colour, the more the decoder takes from there."
    )
    picture, beside = st.columns([5, 4], gap="large")
    with picture:
        _map(trace, layer, head)
        _choices(translator, trace)
    with beside:
        _candidates(translation)
        explain(
            f"Each row of the decoder reads one token and writes the next, by which it is named "
            f"here. The weights are $\\mathrm{{softmax}}(QK^\\top/\\sqrt{{d_k}})$ of equation 1 "
            f"in the encoder-decoder attention of §3.2.3, so each row sums to 1: "
            f"{code_line(attention_scores)}, {code_line(MultiHeadAttention.attend)}. "
            f"They say where the model looked, not why it chose a word."
        )


def _map(trace: AttentionTrace, layer: int, head: int | None) -> None:
    if head is None:
        weights = trace.cross[layer].mean(0)  # [query, key]
        title = f"Layer {layer + 1} · mean of its {trace.cross.shape[1]} heads"
    else:
        weights = trace.cross[layer, head]  # [query, key]
        title = head_name(layer, head)
    attention_map(
        weights,
        trace.labels("cross"),
        "cross",
        title=title,
        reads=trace.decoder_tokens,
        key="translate-map",
        caption=origin_of(trace).caption(of_head("cross", layer, head)),
    )


def _choices(translator: Translator, trace: AttentionTrace) -> None:
    """Under the map: each piece with its probability, and the next best ones."""
    st.subheader("What else could have stood here", anchor=False)
    show_choices(
        memo_per_trace(
            trace,
            ("alternatives", OTHERS),
            lambda: alternatives(translator.model, translator.tokenizer, trace, OTHERS),
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
