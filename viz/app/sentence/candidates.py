"""A further translation beside the one in the bar, with the differences marked."""

from difflib import SequenceMatcher
from html import escape

import streamlit as st

MARKS = "Bold: new. Struck through: dropped."


def show_candidate(text: str, translation: str, caption: str, *, title: str = "") -> None:
    """Draw a candidate text beside the translation that its words are compared with.

    Caption and title are never user input: they are not escaped.
    """
    above = f"<small>{title}</small>" if title else ""
    nothing = "" if text.strip() else "<i>(nothing: the sentence ends at once)</i> "
    st.html(
        f'<div class="headlight-candidate">{above}{nothing}'
        f"<bdi>{mark_changed_words(text, translation)}</bdi><small>{caption}</small></div>"
    )


def mark_changed_words(text: str, other: str) -> str:
    """Return a text as HTML: its new words in bold, the lost words struck through.

    Only this function escapes the words: both texts can hold user input.
    """
    words, others = text.split(), other.split()
    html = []
    matched = SequenceMatcher(None, words, others, False).get_opcodes()
    for change, first, last, first_of_other, last_of_other in matched:
        here, there = words[first:last], others[first_of_other:last_of_other]
        if change == "equal":
            html.append(f'<span class="same">{_escaped(here)}</span>')
            continue
        if there:
            html.append(f"<del>{_unseen('left out:')}{_escaped(there)}</del>")
        if here:
            html.append(f"<b>{_unseen('added:')}{_escaped(here)}</b>")
    return " ".join(html)


def _escaped(words: list[str]) -> str:
    return escape(" ".join(words))


def _unseen(text: str) -> str:
    """Return text for screen readers, which read out neither bold nor strikethrough."""
    return f'<span class="headlight-unseen">{text} </span>'
