"""The words that differ between two texts: one rule, which viz/browser/live/words.ts has, too."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from html import escape


def word_changes(
    before: Sequence[str], after: Sequence[str]
) -> Sequence[tuple[str, int, int, int, int]]:
    """Compare two lists of words; see `difflib.SequenceMatcher.get_opcodes`."""
    return SequenceMatcher(None, before, after, False).get_opcodes()


def mark_changed_words(text: str, other: str) -> str:
    """Return a text as HTML, escaped: its new words in bold, the lost words struck through."""
    words, others = text.split(), other.split()
    html = []
    for change, first_of_other, last_of_other, first, last in word_changes(others, words):
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
