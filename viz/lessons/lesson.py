"""A lesson and its cards, as a lesson file describes them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Literal, NamedTuple
from urllib.parse import urlencode

Language = Literal["en", "de"]  # languages of lessons, which the panel speaks too

Light = Literal[
    "navigation", "sentence", "controls", "findings", "links", "alternatives", "tree", "grid",
    "map", "numbers", "ribbons", "row", "masks", "chart", "table", "drawing", "translation",
    "score", "order", "bleu",
]  # fmt: skip
"""Places on the pages that a card can highlight."""


PAGES_OF_LIGHTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("links", "alternatives", "tree"), ("translate",)),
    **dict.fromkeys(("grid", "map", "numbers", "ribbons"), ("heads", "roles", "training")),
    **dict.fromkeys(("row", "score"), ("inside",)),
    "order": ("positions",),
    "bleu": ("training",),
    "masks": ("masks",),
    "chart": ("schedule", "positions", "training", "inside"),
    "table": ("inside", "roles"),
    "drawing": ("architecture",),
}
"""The pages that have a place, for places that few pages have."""


class View(NamedTuple):
    """A view of the app, which a link opens."""

    page: str  # path of the page
    choices: Mapping[str, Sequence[str]]  # its parameters in the URL, each with its values

    @property
    def url(self) -> str:
        """Return the link, as a lesson file has it."""
        query = urlencode(self.choices, doseq=True)
        return f"/{self.page}?{query}" if query else f"/{self.page}"


class Choice(NamedTuple):
    """One of the answers that a card offers."""

    text: str
    right: bool


@dataclass(frozen=True)
class Measurement:
    """A named number or word of the student's sentence; see `viz.lessons.measures`."""

    measure: str
    arguments: Mapping[str, object]  # the values of its arguments, such as a head
    tolerance: float  # largest difference of a right answer from the value, where that is a number
    line: int = field(default=0, compare=False)  # of the answer in the file, from 1


@dataclass(frozen=True)
class Card:
    """One claim of a lesson, with a view to open and a question to answer."""

    title: str
    text: str  # Markdown without HTML
    line: int  # of its heading in the file, from 1
    view: View | None = None  # the view that the student opens, if any
    light: Light | None = None  # the place that is highlighted, if any
    ask: str = ""  # the question, or ""
    choices: tuple[Choice, ...] = ()  # the answers to choose from, if any
    # what is measured for the right answer; None where `choices` has it
    answer: Measurement | None = None
    hint: str = ""  # Markdown that is shown after a wrong answer, or ""
    # Markdown that is shown with the right answer, for which `{answer}` stands
    reveal: str = ""
    predict: bool = False  # whether the student answers before the view is opened
    own_sentence: bool = False  # whether it is about a sentence that the student writes
    words: str = ""  # that it quotes, beside those of its sentence and translation
    source: str = field(default="", repr=False)  # all of it, as the file has it


@dataclass(frozen=True)
class Lesson:
    """A lesson file."""

    name: str  # of the file without its extension, which the URL has
    title: str
    goal: str  # what the student can do after it, in one sentence
    minutes: int  # that it takes
    language: Language  # in which it is written
    cards: tuple[Card, ...] = field(repr=False)  # at least one
    # "bundled" where it holds for the bundled model alone, else "any"
    model: Literal["bundled", "any"] = "any"
    sentence: str = ""  # the sentence that its answers are about, or "" for the student's own
    notes: str = ""  # Markdown for the teacher, in the handout alone
    text: str = ""  # Markdown before the first card
    checksum: str = ""  # SHA-256 of the file, "" where the text came from none

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """By card: a short name of what it asks, which stays as its wording is mended."""
        seen: Counter[str] = Counter()
        tasks = []
        for card in self.cards:
            asked = card.answer and (card.answer.measure, sorted(card.answer.arguments.items()))
            choices = [choice.text if asked else choice.right for choice in card.choices]
            text = repr((self.name, self.sentence_of(card), asked, choices))
            seen[text] += 1  # two cards that ask the same are told apart by their order
            tasks.append(sha256(f"{text}{seen[text]}".encode()).hexdigest()[:6])
        return tuple(tasks)

    def sentence_of(self, card: Card) -> str:
        """Return the sentence that a card is about, or "" for the student's own."""
        if card.own_sentence:
            return ""
        linked = card.view.choices.get("text") if card.view else None
        return linked[-1] if linked else self.sentence
