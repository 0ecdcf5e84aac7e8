"""Above each page: the question that it answers, and what is worth seeing, one click away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import HeadlightError
from transformer.analysis.corpus import head_report
from viz.app.cache import cached_results
from viz.app.cache.memory import memo, state_of_file
from viz.app.chrome.explanations import as_markdown
from viz.app.links import navigation
from viz.app.sentence import search_request, sentence_bar
from viz.findings import PAGES, Finding, findings

if TYPE_CHECKING:
    from transformer import AttentionTrace, Translator

LONGEST = 100
"""Pieces of a sentence or translation up to which the model is run once more for findings."""

QUESTIONS = {
    "masks": "Which tokens may each position see?",
    "positions": "How does the model know the order of words?",
    "schedule": "How large is each step of the training?",
    "training": "When did the heads form?",
    "architecture": "What happens to your sentence inside the model?",
}
"""The question that each page answers, by its path."""

WITHOUT_SENTENCE = ("schedule", "training")
"""Pages on which the sentence has no effect; they draw their own findings."""
NO_EFFECT = "The sentence above has no effect here."


def show(page: str) -> None:
    """Draw the question of a page, and its findings on the sentence in the bar."""
    if page in WITHOUT_SENTENCE:
        return
    results = _on_sentence(page)
    if results or page in QUESTIONS:
        link(ask(page), results)


def ask(page: str) -> DeltaGenerator:
    """Draw the question of a page; return the row, in which findings have a place."""
    row = st.container(key="findings", horizontal=True, gap="small")
    if question := QUESTIONS.get(page):
        with row, st.container(key="question", horizontal=True, gap="small", width="content"):
            st.markdown(f"**{question}**")
            if page in WITHOUT_SENTENCE:
                st.text(NO_EFFECT)
    return row


def link(row: DeltaGenerator, results: Sequence[Finding]) -> None:
    """Draw findings into the row of `ask`, each a link to the view that shows it."""
    if not results:
        return
    bar = sentence_bar.current()
    text = {} if bar is None else {search_request.TEXT: bar.requested.text}
    with row:
        st.text("Look at")
        with st.container(key="findings-links", gap=None):
            for finding in results:
                label = as_markdown(finding.text)
                navigation.plain_link(finding.page, label, {**text, **finding.choices})


def _on_sentence(page: str) -> list[Finding]:
    bar = sentence_bar.current()
    if bar is None or page not in PAGES:
        return []
    try:
        trace = cached_results.trace(bar.translator, bar.translation)
        return _findings(page, bar.translator, trace)
    except HeadlightError:
        return []  # the page itself says what is wrong with the sentence or the model


def _findings(page: str, translator: Translator, trace: AttentionTrace) -> list[Finding]:
    """Find what is worth seeing, once for all readers."""
    measured = translator.folder / head_report.FILE
    short = max(len(trace.source_pieces), len(trace.target_pieces)) <= LONGEST
    key = (
        "findings",
        page,
        cached_results.identity(translator),
        cached_results.trace_identity(trace),
        state_of_file(measured),
    )

    def compute() -> list[Finding]:
        report = None
        if page == "roles" and short:
            report = head_report.read(translator.folder, translator.model.config)
        return findings(page, trace, translator if short else None, report)

    return memo(key, compute)
