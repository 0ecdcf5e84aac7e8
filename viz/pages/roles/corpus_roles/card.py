"""The card of one head: its role in plain words, how sure, and how much depends on it."""

from __future__ import annotations

import streamlit as st

from transformer import AttentionTrace
from transformer.analysis.corpus.head_report import HeadFigures, HeadReport
from transformer.analysis.heads.head import Head
from viz.app.chrome.head_picker import in_link
from viz.app.links import navigation
from viz.draw.formatting import per_cent
from viz.draw.labels import head_title
from viz.pages.roles.corpus_roles.quantities import roles_on
from viz.pages.roles.corpus_roles.text import (
    LOOKS,
    importance_said,
    role_said,
    sureness,
)
from viz.pages.roles.removal.controls import open_without


def card(report: HeadReport, figures: HeadFigures, trace: AttentionTrace) -> None:
    """Draw the card of a head that was measured on a corpus."""
    _title(figures.place, figures.role)
    st.text(f"{role_said(figures)} {sureness(figures, report.sentences)}")
    st.text(importance_said(report, figures))
    st.text(on_sentence(trace, figures.place))
    _links(figures.place)


def card_of_sentence(trace: AttentionTrace, head: Head) -> None:
    """Draw the card of a head of which only the sentence in the bar is known."""
    _title(head, roles_on(trace, head.kind)[head].role)
    st.text(on_sentence(trace, head))
    _links(head)


def on_sentence(trace: AttentionTrace, head: Head) -> str:
    """What the head does on the sentence in the bar."""
    one = roles_on(trace, head.kind)[head]
    of = "of the largest possible entropy" if one.nearest == "spread" else "beyond chance"
    score = f"{per_cent(one.score)} {of}"
    if not one.role:
        return f"On the sentence in the bar nothing dominates: nearest is “{one.nearest}”, {score}."
    looks = LOOKS[one.role]
    return f"On the sentence in the bar it {looks[:1].lower()}{looks[1:]} ({score})."


def _title(head: Head, role: str) -> None:
    st.subheader(f"{head_title(*head)} · {role or 'no one role'}", anchor=False)


def _links(head: Head) -> None:
    """The same head on other pages and in another view."""
    with st.container(
        key="measured-links", horizontal=True, vertical_alignment="center", gap="small"
    ):
        chosen = in_link(*head)
        navigation.link("heads", "its map on the sentence in the bar", chosen)
        navigation.link("inside", "how it comes to its weights", chosen)
        st.button("Take it away", key="measured-take-away", on_click=open_without, args=(head,))
