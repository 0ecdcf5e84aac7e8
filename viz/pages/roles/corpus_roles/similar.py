"""Heads like the open one: by what was measured of them, and by where they look now."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from transformer import AttentionTrace
from transformer.analysis.corpus.head_report import HeadReport
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.similar_heads import nearest_by_attention, nearest_by_measures
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.head_picker import head_buttons

SHOWN = 5


def like_this_one(report: HeadReport | None, trace: AttentionTrace, head: Head) -> None:
    """Draw the nearest heads, each a click away.

    Args:
        report: None where nothing was measured on a corpus.
        trace: of the sentence in the bar.
        head: the open head.
    """
    st.subheader("Heads like this one", anchor=False)
    if report is not None:
        found = nearest_by_measures(report, head, SHOWN)
        _buttons("By what was measured on the corpus", "measures", found)
    now = memo_per_trace(
        trace, ("heads like", head), lambda: nearest_by_attention(trace, head, SHOWN)
    )
    _buttons("By where they look on the sentence in the bar", "attention", now)


def _buttons(title: str, name: str, found: Sequence[tuple[Head, float]]) -> None:
    if not found:
        st.caption(f"{title}: there is no other head.")
        return
    st.caption(f"{title}, with the distance")
    head_buttons(f"similar-{name}", [(head, f"{distance:.2f}") for head, distance in found])
