"""Findings on the sentence in the bar, above each page: what is worth seeing, one click away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from transformer import HeadlightError
from transformer.analysis.corpus import head_report
from viz.app.cache import cached_results
from viz.app.cache.memory import memo, state_of_file
from viz.app.chrome.explanations import as_markdown
from viz.app.links import navigation
from viz.app.sentence import search_request, sentence_bar, tour
from viz.app.sentence.search_request import NAMES
from viz.app.sentence.sentence_bar import BarTranslation
from viz.findings import MOST, PAGES, Finding, ranked

if TYPE_CHECKING:
    from transformer import AttentionTrace, Translator

LONGEST = 100
"""Pieces of a sentence or translation up to which the model is run once more for findings."""


def show(page: str) -> None:
    """Draw the findings of a page, each a link to the view that shows it, or a stop of the tour."""
    bar = sentence_bar.current()
    number = tour.current_stop(page)
    if bar is None or (page not in PAGES and not number):
        return
    if number:
        pages = tour.STOPS[number - 1 : number + 1]  # with the next one, if any
        shown = [tour.main_finding(path, _findings(path, bar)) for path in pages]
        tour.show_stop(number, shown[0], shown[-1], _sentence(bar))
        return
    results = _findings(page, bar)[:MOST]
    if not results:
        return
    with st.container(key="findings", horizontal=True, gap="small"):
        st.text("Look at")
        with st.container(key="findings-links", gap=None):
            for finding in results:
                # another page gets the sentence from the bar, and would get it twice
                own = _sentence(bar) if finding.page == page else {}
                choices = {**own, **finding.choices}
                navigation.plain_link(finding.page, as_markdown(finding.text), choices)


def _sentence(bar: BarTranslation) -> dict[str, str]:
    """Return the URL parameters of the sentence in the bar."""
    names = {name: st.query_params[name] for name in NAMES if name in st.query_params}
    return {**names, search_request.TEXT: bar.requested.text}


def _findings(page: str, bar: BarTranslation) -> list[Finding]:
    """Find what is worth seeing, none where the page itself says what is wrong."""
    try:
        trace = cached_results.trace(bar.translator, bar.translation)
        return _remembered(page, bar.translator, trace)
    except HeadlightError:
        return []


def _remembered(page: str, translator: Translator, trace: AttentionTrace) -> list[Finding]:
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
        return ranked(page, trace, translator if short else None, report)

    return memo(key, compute)
