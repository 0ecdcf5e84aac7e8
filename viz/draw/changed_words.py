"""The words that differ between two texts, as HTML."""

from difflib import SequenceMatcher
from html import escape


def mark_changed_words(text: str, other: str) -> str:
    """Return a text as HTML, escaped: its new words in bold, the lost words struck through."""
    words, others = text.split(), other.split()
    html = []
    matched = SequenceMatcher(None, words, others, False).get_opcodes()
    for change, first, last, first_of_other, last_of_other in matched:
        here = escape(" ".join(words[first:last]))
        there = escape(" ".join(others[first_of_other:last_of_other]))
        if change == "equal":
            html.append(f'<span class="same">{here}</span>')
            continue
        # for screen readers, which read out neither bold nor strikethrough
        unseen = '<span class="headlight-unseen">{} </span>'.format
        if there:
            html.append(f"<del>{unseen('left out:')}{there}</del>")
        if here:
            html.append(f"<b>{unseen('added:')}{here}</b>")
    return " ".join(html)
