"""Positions: the encoding of §3.5, and what the model does when it is learnt, moved or removed."""

from __future__ import annotations

from collections.abc import Callable

from transformer import HeadlightError
from viz.app.fields import choose_one
from viz.app.problems import say
from viz.pages.positions.formula import curves, encoding, rotation, similarity
from viz.pages.positions.learned import learned
from viz.pages.positions.sentence import beyond, sentence, without

VIEW = "pe_view"
"""Name in the URL."""

VIEWS: dict[str, Callable[[], None]] = {
    "Encoding": encoding,
    "Curves": curves,
    "Similarity": similarity,
    "Rotation": rotation,
    "Your sentence": sentence,
    "Learned": learned,
    "Beyond": beyond,
    "Without": without,
}


def show() -> None:
    """Draw the page: choose a view, then what it asks for."""
    draw = VIEWS[choose_one("View", VIEWS, VIEW)]
    try:
        draw()
    except HeadlightError as error:  # such as settings that none has tried, or an unread table
        say(error)
