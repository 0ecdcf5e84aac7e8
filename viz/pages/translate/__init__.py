"""The page “Translate”: an editor, links between words, and the search as a tree."""

import streamlit as st

from transformer.analysis.alignment import align
from transformer.analysis.alignment_settings import read_alignment
from transformer.attention import MultiHeadAttention, attention_scores
from transformer.decoding import BeamSearch
from viz.app.chrome.explanations import code_line, explain
from viz.app.chrome.mounts import show_late
from viz.app.sentence import sentence_bar
from viz.app.sentence.python_code import show_code
from viz.pages.translate.both_links import BothLinks, both_explanation
from viz.pages.translate.code_blocks import code_parts
from viz.pages.translate.forcing import show_alternatives, show_editor, show_others, show_tree
from viz.pages.translate.maps import draw_map, link_norms, pick_map, show_words
from viz.pages.translate.versus import MAPS, show_both_maps, show_versus


def show() -> None:
    """Draw the page for the sentence in the bar."""
    # each part has its own container: a change in one part would remount all parts below it
    words, editor, notices, tree, comparison = (st.container() for _ in range(5))
    if (bar := sentence_bar.current()) is not None:
        with editor:
            show_editor(bar)
        with notices:
            sentence_bar.show_notices()
            show_late()
    traced = sentence_bar.traced()
    if bar is None or traced is None:
        return
    trace = traced.trace
    alignment = read_alignment(bar.translator)
    with words:
        links = show_words(bar, trace, alignment)
    with tree:
        show_tree(bar)
        show_alternatives(bar, trace)
    with comparison:
        compared = show_versus(bar)
        both_maps = compared is not None and bool(st.session_state.get(MAPS))
        if compared is not None and both_maps:
            choice = pick_map(trace, alignment)
            show_both_maps(bar, compared, choice)
    picture, details = st.columns([5, 4], gap="large")
    if not both_maps:  # otherwise the same map is drawn above
        with picture:
            st.subheader("Subword by subword", anchor=False)
            choice = pick_map(trace, alignment)
            draw_map(bar.translator, trace, choice, "translate-map")
            if not choice.sinks:
                link_norms(choice)
    with details:
        show_others(bar)
        explain(
            f"At each step the decoder reads one subword and predicts the next. The weights are "
            f"$\\mathrm{{softmax}}(QK^\\top/\\sqrt{{d_k}})$ of equation 1 in the encoder-decoder "
            f"attention of §3.2.3, so each row sums to 1: "
            f"{code_line(attention_scores)}, {code_line(MultiHeadAttention.attend)}. "
            f"They say where the model looked, not why it chose a word. Links between words are "
            f"read from one such map by {code_line(align)}, as Garg et al. (2019) and Kobayashi "
            f"et al. (2020) do; the alignment error rate (AER, Och & Ney 2003) against links that "
            f"people drew is 0 % where all are the same. "
            f"{both_explanation() if isinstance(links, BothLinks) else ''}"
            f"The tree is what the beam search of §6.1 "
            f"ranked step by step, {code_line(BeamSearch.step)}; a forced prefix is read before "
            f"its first step, and forbidden words are left out of each."
        )
    show_code(*code_parts(bar, links, compared, choice))
