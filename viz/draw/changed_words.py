"""The words that differ between two texts: one rule, which viz/browser/live/words.ts has, too."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from html import escape
from itertools import groupby
from typing import Literal, NamedTuple


class Part(NamedTuple):
    """A word of a text, or one that it lost."""

    change: Literal["same", "moved", "new", "lost"]
    place: int  # of a lost word in the text before, else in the text


def word_changes(before: Sequence[str], after: Sequence[str]) -> list[Part]:
    """Compare two lists of words as `difflib` does.

    A word that one place lost and another one got has moved: it stands where it is now.
    """
    parts = list(_compared(before, after))
    lost = Counter(before[index] for change, index in parts if change == "lost")
    both = lost & Counter(after[index] for change, index in parts if change == "new")
    stays, comes = Counter(both), Counter(both)  # moved words that are still to be met
    changes = []
    for part in parts:
        change, index = part
        word = (before if change == "lost" else after)[index]
        if change == "lost" and stays[word]:
            stays[word] -= 1
        elif change == "new" and comes[word]:
            comes[word] -= 1
            changes.append(Part("moved", index))
        else:
            changes.append(part)
    return changes


def _compared(before: Sequence[str], after: Sequence[str]) -> Iterator[Part]:
    matcher = SequenceMatcher(None, before, after, False)
    for change, first, last, start, end in matcher.get_opcodes():
        if change != "equal":
            yield from (Part("lost", index) for index in range(first, last))
        yield from (Part("same" if change == "equal" else "new", n) for n in range(start, end))


def mark_changed_words(text: str, other: str) -> str:
    """Return a text as HTML, escaped: its new words in bold, the lost words struck through."""
    words, others = text.split(), other.split()
    tags = {"lost": ("del", "left out:"), "new": ("b", "added:")}
    html = []
    for tag, group in groupby(word_changes(others, words), key=lambda part: tags.get(part.change)):
        texts = [(others if change == "lost" else words)[index] for change, index in group]
        shown = escape(" ".join(texts))
        if tag is None:
            html.append(f'<span class="same">{shown}</span>')
        else:  # for screen readers, which read out neither bold nor strikethrough
            name, unseen = tag
            html.append(f'<{name}><span class="headlight-unseen">{unseen} </span>{shown}</{name}>')
    return " ".join(html)
