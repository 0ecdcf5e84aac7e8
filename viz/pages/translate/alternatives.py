"""Alternatives to the translation: other pieces of each step, and other hypotheses."""

from __future__ import annotations

import math

import streamlit as st

from transformer import AttentionTrace
from transformer.decoding import length_penalty
from transformer.translation.result import Candidate
from transformer.translation.score import most_probable_others
from viz.app.chrome.explanations import code_line
from viz.app.chrome.mounts import mount_bars, say_late
from viz.app.sentence.candidates import MARKS, show_candidate
from viz.app.sentence.origin import origin_of
from viz.app.sentence.search_request import is_asked
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.alternatives import encode_bars
from viz.draw.formatting import format_number
from viz.pages.translate import clicks
from viz.pages.translate.clicks import scored


def show_alternatives(bar: BarTranslation, trace: AttentionTrace) -> None:
    """Draw each written piece with its probability, the best alternatives beside it."""
    st.subheader("What else could have stood there", anchor=False)
    score = scored(bar)
    request, tokenizer = bar.requested, bar.translator.target_tokenizer
    written = zip(score.pieces, score.alternatives, score.log_probs, strict=True)
    steps = [
        [
            (piece.text, min(1.0, math.exp(log_prob))),
            *((other.piece, other.probability) for other in others),
        ]
        for piece, others, log_prob in written
    ]

    def pick(choice: tuple[int, int] | None) -> None:
        if choice is None or not is_asked(request):
            say_late()
            return
        step, alternative = choice
        prefix = [pieces[0][0] for pieces in steps[:step]]
        clicks.force(tokenizer, [*prefix, steps[step][1 + alternative][0]])

    caption = origin_of(trace).caption("The most probable pieces of each step.")
    mount_bars("translate-steps", encode_bars(steps, caption=caption), steps, pick)
    st.caption(
        f"Each piece with its probability, given the {bar.translator.source_language} sentence "
        f"and all pieces before it: "
        f"{code_line(most_probable_others)}."
    )


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
