"""Findings on the sentence in the bar, above each page: what is worth seeing, one click away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

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


def show(page: str) -> None:
    """Draw the findings of a page, each a link to the view that shows it."""
    bar, results = sentence_bar.current(), findings_of(page)
    if bar is None or not results:
        return
    with st.container(key="findings", horizontal=True, gap="small"):
        st.text("Look at")
        with st.container(key="findings-links", gap=None):
            for finding in results:
                choices = {search_request.TEXT: bar.requested.text, **finding.choices}
                navigation.plain_link(finding.page, as_markdown(finding.text), choices)


def findings_of(page: str) -> list[Finding]:
    """Find what is worth seeing on a page of the sentence in the bar, if there is one."""
    bar = sentence_bar.current()
    if bar is None or page not in PAGES:
        return []
    try:
        trace = cached_results.trace(bar.translator, bar.translation)
        return _findings(page, bar.translator, trace)
    except HeadlightError:
        return []  # the page itself says what is wrong with the sentence or the model


def default_choices(page: str) -> Mapping[str, str]:
    """Return the parameters in the URL of the view that a page opens on: its first finding's."""
    return next((finding.choices for finding in findings_of(page)), {})


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
