"""A lesson and its cards, as a lesson file describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from urllib.parse import urlencode

Language = Literal["en", "de"]
"""Languages of lessons, which the panel speaks too."""

Light = Literal[
    "navigation", "sentence", "controls", "findings", "links", "alternatives", "tree", "grid",
    "map", "numbers", "ribbons", "row", "masks", "chart", "drawing", "translation",
]  # fmt: skip
"""Places on the pages that a card can highlight."""


_MAPS = ("heads", "roles", "training")
PAGES_OF_LIGHTS: Mapping[str, tuple[str, ...]] = {
    "links": ("translate",),
    "alternatives": ("translate",),
    "tree": ("translate",),
    "grid": _MAPS,
    "map": _MAPS,
    "numbers": _MAPS,
    "ribbons": _MAPS,
    "row": ("inside",),
    "masks": ("masks",),
    "chart": ("schedule", "positions", "training"),
    "drawing": ("architecture",),
}
"""The pages that have a place, for places that few pages have."""


class View(NamedTuple):
    """A view of the app, which a link opens.

    Args:
        page: path of the page.
        choices: its parameters in the URL, each with its values.
    """

    page: str
    choices: Mapping[str, Sequence[str]]

    @property
    def url(self) -> str:
        """Return the link, as a lesson file has it."""
        return (
            f"/{self.page}?{urlencode(self.choices, doseq=True)}"
            if self.choices
            else f"/{self.page}"
        )


class Choice(NamedTuple):
    """One of the answers that a card offers."""

    text: str
    right: bool


@dataclass(frozen=True)
class Measurement:
    """A named number or word of the reader's sentence; see `viz.lessons.measures`.

    Args:
        measure: its name.
        arguments: the values of its arguments, such as a head.
        tolerance: largest difference of a right answer from the value, where that is a number.
        line: of the answer in the file, from 1.
    """

    measure: str
    arguments: Mapping[str, object]
    tolerance: float
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Card:
    """One claim of a lesson, with a view to open and a question to answer.

    Args:
        title: its heading.
        text: Markdown without HTML.
        line: of its heading in the file, from 1.
        view: the view that the reader opens, if any.
        light: the place that is highlighted, if any.
        ask: the question, or "".
        choices: the answers to choose from, if any.
        answer: what is measured for the right answer; None where `choices` has it.
        reveal: Markdown that is shown after an answer; `{answer}` stands for the right one.
    """

    title: str
    text: str
    line: int
    view: View | None = None
    light: Light | None = None
    ask: str = ""
    choices: tuple[Choice, ...] = ()
    answer: Measurement | None = None
    reveal: str = ""


@dataclass(frozen=True)
class Lesson:
    """A lesson file.

    Args:
        name: of the file without its ending, which the URL has.
        title: its title.
        goal: what the reader can do after it, in one sentence.
        minutes: that it takes.
        language: in which it is written.
        model: "bundled" where it holds for the bundled model alone, else "any".
        sentence: the sentence that its answers are about, or "" for the reader's own.
        notes: Markdown for the teacher, in the handout alone.
        text: Markdown before the first card.
        cards: at least one.
        checksum: SHA-256 of the file, "" where the text came from none.
    """

    name: str
    title: str
    goal: str
    minutes: int
    language: Language
    cards: tuple[Card, ...] = field(repr=False)
    model: Literal["bundled", "any"] = "any"
    sentence: str = ""
    notes: str = ""
    text: str = ""
    checksum: str = ""
