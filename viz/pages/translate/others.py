"""The other hypotheses of the search."""

from __future__ import annotations

import streamlit as st

from transformer.decoding import length_penalty
from transformer.translation.result import Candidate
from viz.app.chrome.explanations import code_line
from viz.app.sentence.candidates import MARKS, show_candidate
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.formatting import format_number


def show_others(bar: BarTranslation) -> None:
    """Draw the other hypotheses, best first, with differences from the translation marked."""
    if bar.used.edited:
        return  # no search made it
    st.subheader("The other sentences of the search", anchor=False)
    best, *others = bar.translation.candidates
    if not others:
        st.caption("The search kept one hypothesis, as a beam of 1 does: nothing to compare.")
        return
    for candidate in others:
        same = " · the same words, in other pieces" if candidate.text == best.text else ""
        show_candidate(candidate.text, best.text, figures(candidate) + same)
    st.caption(
        f"{MARKS} That one has {figures(best)}. The score is log p over the length penalty of "
        f"§6.1, so that a short sentence does not win for being short: "
        f"{code_line(length_penalty)}."
    )


def figures(candidate: Candidate) -> str:
    """Format score and log P of a hypothesis."""
    hypothesis = candidate.hypothesis
    score, log_prob = format_number(hypothesis.score), format_number(hypothesis.log_prob)
    return f"score {score} · log p {log_prob}"
