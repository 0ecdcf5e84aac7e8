"""A further translation beside the one in the sentence bar, its changed words in bold."""

from __future__ import annotations

from difflib import SequenceMatcher
from html import escape

import streamlit as st


def show_candidate(text: str, translation: str, caption: str, *, title: str = "") -> None:
    """Draw one candidate.

    Args:
        text: of the candidate.
        translation: with which its words are compared.
        caption: below it, of our own making, as is `title`.
        title: above it.
    """
    above = f"<small>{title}</small>" if title else ""
    st.html(
        f'<div class="headlight-candidate">{above}{mark_changed_words(text, translation)}'
        f"<small>{caption}</small></div>"
    )


def mark_changed_words(text: str, other: str) -> str:
    """A text as HTML, with the words that another text does not have in bold.

    The words are escaped here and nowhere else: both texts can hold what a person typed.
    """
    words, others = text.split(), other.split()
    html = []
    for change, first, last, *_ in SequenceMatcher(None, words, others, False).get_opcodes():
        if first < last:
            inside = escape(" ".join(words[first:last]))
            same = change == "equal"
            html.append(f'<span class="same">{inside}</span>' if same else f"<b>{inside}</b>")
    return " ".join(html)
