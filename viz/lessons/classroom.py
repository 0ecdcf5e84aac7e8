"""The link by which a class opens a lesson, and its QR code."""

from urllib.parse import urlencode

import segno

from viz.draw.labels import PAGE_TITLES
from viz.lessons.lesson import Lesson, View

MAX_MINUTES = 180  # that a teacher can set


def class_link(lesson: Lesson, host: str, minutes: int = 0, *, locked: bool = False) -> str:
    """Return the address of the first card with a fixed sentence, on a host such as `http://x`.

    With minutes, a clock runs down; locked, no answer is shown before it is found.
    """
    first, (card, *_) = next(iter(PAGE_TITLES)), lesson.cards
    view = card.view if card.view and not card.predict else View(first, {})
    query = {**view.choices, "lesson": lesson.name, "class": "1"}
    query |= ({"minutes": str(minutes)} if minutes else {}) | ({"locked": "1"} if locked else {})
    page = "" if view.page == first else view.page
    return f"{host.rstrip('/')}/{page}?{urlencode(query, doseq=True)}"


def qr_code(link: str) -> str:
    """Draw a link as SVG, black on white."""
    code = segno.make(link, micro=False, error="l", boost_error=False)
    return code.svg_inline(scale=4, dark="#000", light="#fff")
