"""Translate: which English piece each German piece looks at while it is written."""

from __future__ import annotations

import streamlit as st

from transformer import AttentionTrace, Translation
from transformer.attention import MultiHeadAttention, attention_scores
from transformer.decoding import beam_search
from viz.app import sentence_bar, serving
from viz.app.candidates import show_candidate
from viz.app.explanations import code_line, explain
from viz.app.formatting import format_number
from viz.app.head_picker import UrlNames, pick
from viz.app.mounts import attention_map
from viz.app.origin import origin_of
from viz.draw.caption import of_head
from viz.draw.labels import head_name

MAP = UrlNames("map_layer", "map_head")
"""In the URL; not the names of the other pages, for only here a mean can be chosen."""


def show() -> None:
    """Draw the page for the sentence in the bar."""
    if (trace := sentence_bar.trace()) is None:
        return
    found = sentence_bar.translated()
    assert found is not None  # there is a trace
    translator, translation = found
    picture, beside = st.columns([2, 1], gap="large")
    with picture:
        _map(trace, serving.aligning_layer(translator))
    with beside:
        _candidates(translation)
        explain(
            f"Each row is one German piece at the moment when it is written, each column one "
            f"English piece; the stronger the colour, the more the decoder takes from there. "
            f"The weights are $\\mathrm{{softmax}}(QK^\\top/\\sqrt{{d_k}})$ of equation 1 in the "
            f"encoder-decoder attention of §3.2.3, so each row sums to 1: "
            f"{code_line(attention_scores)}, {code_line(MultiHeadAttention.attend)}. "
            f"They say where the model looked, not why it chose a word."
        )


def _map(trace: AttentionTrace, aligning: int) -> None:
    layers, heads = trace.cross.shape[:2]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        layer, head = pick(MAP, layers, heads, layer=aligning, mean=True)
    assert layer is not None  # this page offers the mean over heads alone
    if head is None:
        weights = trace.cross[layer].mean(0)  # [query, key]
        title = f"Layer {layer + 1} · mean of its {heads} heads"
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


def _candidates(translation: Translation) -> None:
    """The other sentences that the search had in hand when it ended, best first."""
    st.subheader("What else could have stood here", anchor=False)
    if len(translation.candidates) == 1:
        st.caption("A beam of 1 keeps one hypothesis: there is nothing to compare.")
        return
    for candidate in translation.candidates:
        hypothesis = candidate.hypothesis
        score, log_prob = format_number(hypothesis.score), format_number(hypothesis.log_prob)
        show_candidate(candidate.text, translation.text, f"score {score} · log p {log_prob}")
    st.caption(
        f"The sentences that beam search ended with. The score is log p over the length penalty "
        f"of §6.1, so that a short sentence does not win for being short: {code_line(beam_search)}."
    )
