"""Shares of the source under the words of both lines: their switch, and what they miss."""

import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.source_share import SourceShares, by_words, source_shares
from viz.app.cache.memory import memo_per_trace
from viz.app.cache.progress import progress_bar
from viz.app.chrome.explanations import as_markdown, code_line
from viz.app.chrome.terms import SOURCE_SHARE_LIMITS
from viz.draw.formatting import per_cent

WHERE_FROM = "where_from"
"""Name of the switch in the URL."""


def pick_shares(translator: Translator, trace: AttentionTrace) -> SourceShares | None:
    """Draw the switch “Where it comes from”; return the shares of the words where it is on."""
    if not st.toggle("Where it comes from", key=WHERE_FROM, bind="query-params"):
        return None

    def compute() -> SourceShares:
        with progress_bar("Sharing out each layer's output") as report:
            return by_words(source_shares(translator, trace, progress=report), trace)

    return memo_per_trace(trace, "shares of words", compute)


def explain_shares(shares: SourceShares, trace: AttentionTrace, words: int) -> None:
    """Draw what the bars show, with means over the first so many written words, and the limits."""
    source, target = (trace.languages.name(side) for side in ("source", "target"))
    share, on_sinks = (
        per_cent(float(values[:words].mean())) for values in (shares.from_source, shares.on_sinks)
    )
    st.caption(
        as_markdown(
            f"Bars, 0 to 1. Under each {target} word: its share that comes from the {source} "
            f"sentence, the rest from what was written before ({share} on average). Under each "
            f"{source} word: its largest share in any {target} word. Of cross-attention, "
            f"{on_sinks} goes to sinks: special tokens and punctuation. Subwords are summed in the "
            f"{source} line and averaged in the {target} one."
        )
    )
    st.caption(f"{as_markdown(SOURCE_SHARE_LIMITS)} {code_line(source_shares)}")
