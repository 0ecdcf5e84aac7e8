"""The page “Positions”: the encoding of §3.5, and edits of it in the model."""

from collections.abc import Callable

from transformer import HeadlightError
from viz.app.chrome import fields, problems
from viz.pages.positions import longer, sentence, tables

VIEW = "pe_view"  # name in the URL

VIEWS: dict[str, Callable[[], None]] = {
    "Encoding": tables.encoding,
    "Curves": tables.curves,
    "Similarity": tables.similarity,
    "Rotation": tables.rotation,
    "Your sentence": sentence.embeddings,
    "Learned": tables.learned,
    "Longer": longer.longer,
    "Remove positions": sentence.without,
}


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    draw = VIEWS[fields.choose_one("View", VIEWS, VIEW, default="Remove positions")]
    try:
        draw()
    except HeadlightError as error:  # such as invalid settings, or a table that cannot be read
        problems.say(error)
