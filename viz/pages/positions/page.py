"""The page “Positions”: the encoding of §3.5, and edits of it in the model."""

from __future__ import annotations

from collections.abc import Callable

from transformer import HeadlightError
from viz.app.chrome.fields import choose_one
from viz.app.chrome.problems import say
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
    """Draw the page: the menu of views, then the chosen view."""
    draw = VIEWS[choose_one("View", VIEWS, VIEW)]
    try:
        draw()
    except HeadlightError as error:  # such as invalid settings, or a table that cannot be read
        say(error)
