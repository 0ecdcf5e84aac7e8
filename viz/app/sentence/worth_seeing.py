"""The question that a page answers, and links to what is worth seeing, above each page."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, HeadlightError, Translator
from viz.app import jobs
from viz.app.cache import cached_results, memory
from viz.app.chrome.explanations import as_markdown, help_of
from viz.app.links import navigation
from viz.app.sentence import sentence_bar
from viz.draw.labels import PAGE_TITLES
from viz.findings import MOST, PAGES, Finding, FromModel, passes, ranked

LONGEST = 100
"""Subwords of a sentence or translation up to which the model runs once more automatically."""

Find = FromModel | Literal["page", "nothing"]
"""Where the findings of a view come from: a function, its page, or nowhere."""


class Question(NamedTuple):
    """The question that a page answers, and the terms that its help explains."""

    text: str
    terms: Sequence[str]


def begin() -> DeltaGenerator:
    """Reserve the row of question and findings; `show` and `link` fill it."""
    return st.container(key="findings", horizontal=True, gap="small")


def show(
    page: str,
    bar: sentence_bar.BarTranslation | None,
    find: Find = "page",
    row: DeltaGenerator | None = None,
    asked: Question | None = None,
) -> None:
    """Draw the question of a view, if it has one, and findings on the sentence."""
    results: list[Finding] = []
    unfinished: jobs.UnfinishedError | None = None
    try:
        if bar is not None and find != "nothing":
            results = _findings(page, bar.translator, bar.trace, find)[:MOST]
    except jobs.UnfinishedError as error:  # the rest of the page does not wait for it
        unfinished = error
    except HeadlightError:  # which the page itself says
        pass
    # the row is there without anything in it, too: else all below it would be drawn anew
    row = begin() if row is None else row
    if asked is not None:
        with row, st.container(key="question", horizontal=True, gap="small", width="content"):
            # the navigation names the section alone
            question = f"*{PAGE_TITLES[page]}* **{asked.text}**"
            st.markdown(question, help=help_of(asked.terms))
    link(page, row, results)
    if unfinished is not None:
        with row:
            unfinished.show()


def link(page: str, row: DeltaGenerator, results: Sequence[Finding]) -> None:
    """Draw findings into the row of `begin`, each a link to the view that shows it."""
    if not results:  # else those of the page before would keep their places until the run ends
        for _ in range(2):
            row.empty()
        return
    with row:
        st.text("Worth seeing:")
        with st.container(key="findings-links", gap=None):
            for finding in results:
                # an element for each quoted token, which `js/languages.js` looks for
                text = re.sub("“\u2068.*?\u2069”", r"*\g<0>*", as_markdown(finding.text))
                if page == "inside" and not finding.choices.keys() & st.query_params.keys():
                    st.markdown(text)  # the page has opened on it
                    continue
                # another page gets the sentence from the bar, and would get it twice
                own = sentence_bar.url_choices() if finding.page == page else {}
                choices = {**own, **finding.choices}
                navigation.plain_link(finding.page, text, choices)


def default_choices(page: str, model: Translator, trace: AttentionTrace) -> Mapping[str, str]:
    """Return the parameters in the URL of the view that a page opens on: its first finding's."""
    with suppress(jobs.UnfinishedError, HeadlightError):
        return next((finding.choices for finding in _findings(page, model, trace)), {})
    return {}


def _findings(
    page: str, model: Translator, trace: AttentionTrace, find: FromModel | Literal["page"] = "page"
) -> list[Finding]:
    """Find what is worth seeing."""
    if page not in PAGES:
        return []
    short = max(len(trace.source_pieces), len(trace.target_pieces)) <= LONGEST
    if find != "page":
        finding = find(model, trace) if short else None
        return [finding] if finding else []
    if page == "roles":
        return _costliest(model, trace)
    key = cached_results.key_of(model, trace)
    compute = partial(ranked, page, trace, model if short else None)
    return memory.memo(("findings", page, *key), compute)


def _costliest(model: Translator, trace: AttentionTrace) -> list[Finding]:
    if max(len(trace.source_pieces), len(trace.target_pieces)) > jobs.SHORT:
        return []
    title, first = "Removing each head", partial(cached_results.needed_heads, trace, 1)
    order = jobs.compute_measure(model, trace, ("first head",), title, first)
    finding = passes.costliest_head(model, trace, order)
    return [finding] if finding else []
