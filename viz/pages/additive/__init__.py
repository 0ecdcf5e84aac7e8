"""The page “Additive or dot-product”: the two attention functions of §3.2.1, compared."""

from collections.abc import Callable

from transformer import HeadlightError
from viz.app.chrome import fields, problems
from viz.pages.additive import functions, scale

VIEWS: dict[str, Callable[[], None]] = {
    "Your sentence": functions.sentence,
    "Time and memory": functions.cost,
    "Without scale": scale.without,
    "Misprint": scale.misprint,
}


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    draw = VIEWS[fields.choose_one("View", VIEWS, "additive_view")]
    try:
        draw()
    except HeadlightError as error:
        problems.say(error)
