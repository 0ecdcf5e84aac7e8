"""Options of the search, each with its field, its name in links and its setting; a request."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import streamlit as st

from transformer import decoding
from transformer.decoding import BEAM_SIZE
from transformer.decoding.settings import SearchSettings
from transformer.text import tokenizer
from viz.app.chrome.fields import text_field, text_input
from viz.draw.labels import quoted

BEAMS = (1, 2, 4, 8)
ALPHAS = (0.0, 2.0)
"""The smallest and the largest; 0 is no penalty, and at 1 the score is about log p per piece."""

BEAM, PREFIX = "beam", "prefix"
"""Names of options that other modules read."""

_QUOTE = 40  # characters of a prefix, or of a value in a link, that are quoted


@dataclass(frozen=True)
class SearchOption:
    """An option of the search."""

    name: str  # in links
    field: str  # of `SearchRequest` and of `SearchSettings`
    draw: Callable[[], Any]  # draws its field, and returns the value
    hidden: bool = False  # whether a style hides the field, which other parts of the page set
    as_setting: Callable[[Any], object] = lambda value: value
    as_typed: Callable[[Any], object] = lambda setting: setting  # back again
    read: Callable[[str], object] = str  # reads a value in a link
    problem: Callable[[str], str] = lambda _: ""  # a sentence on a wrong value in a link
    # of a constraint in words of the target language: what is said where the search leaves it out
    without: str = ""


def shorten(text: str) -> str:
    """Shorten a text that is too long to be quoted."""
    return text if len(text) <= _QUOTE else f"{text[: _QUOTE - 1].rstrip()}…"


def words_of(text: str) -> tuple[str, ...]:
    """Read words as they were typed; a comma may stand between two."""
    return tuple(dict.fromkeys(word.rstrip(",") or word for word in text.split()))


def _beam_problem(value: str) -> str:
    if value in map(str, BEAMS):
        return ""
    beams = f"{', '.join(map(str, BEAMS[:-1]))} or {BEAMS[-1]}"
    return f"There is no beam of {quoted(shorten(value))}: it is {beams}, and here {BEAM_SIZE}."


def _alpha_problem(value: str) -> str:
    least, most = ALPHAS
    try:
        if least <= float(value) <= most:  # which nan is not
            return ""
    except ValueError:
        pass
    return (
        f"{quoted(shorten(value))} is not an α of the length penalty: it is a number from "
        f"{least:g} to {most:g}, and here {decoding.ALPHA:g}."
    )


OPTIONS = (
    SearchOption(
        BEAM,
        "beam_size",
        lambda: st.selectbox(
            "Beam size",
            BEAMS,
            index=BEAMS.index(BEAM_SIZE),
            key=BEAM,
            bind="query-params",
            help="How many partial translations the search keeps at each step.",
        ),
        read=int,
        problem=_beam_problem,
    ),
    SearchOption(
        "alpha",
        "alpha",
        lambda: st.slider(
            "Length penalty α",
            *ALPHAS,
            decoding.ALPHA,
            0.1,
            key="alpha",
            bind="query-params",
            help="A translation is ranked by its log probability / ((5 + subwords) / 6)^α (§6.1): "
            "the larger α, the longer the translation; 0 is no penalty.",
        ),
        read=float,
        problem=_alpha_problem,
    ),
    SearchOption(
        PREFIX,
        "prefix",
        lambda: text_input("Forced prefix, in pieces", key=PREFIX),
        hidden=True,
        as_setting=lambda pieces: tuple(pieces.split()),
        as_typed=" ".join,
        without="without the prefix",
    ),
    SearchOption(
        "forbid",
        "forbidden",
        lambda: text_field(
            "Forbidden words",
            key="forbid",
            placeholder="e.g. Auto Haus (separate words with spaces)",
            help="No translation contains these words as they are written; upper case counts. "
            "A longer word that begins with one is another word.",
        ),
        as_setting=words_of,
        as_typed=" ".join,
        without="with all words allowed",
    ),
)
"""In the order of the fields of `SearchRequest`."""

CONSTRAINTS = [option for option in OPTIONS if option.without]

TEXTS = frozenset(option.name for option in OPTIONS if option.read is str)
"""Names in links whose values may be any text."""


class SearchRequest(NamedTuple):
    """User's request to the search."""

    text: str  # to be translated, as it was typed
    beam_size: int = BEAM_SIZE  # hypotheses that the search follows
    alpha: float = decoding.ALPHA  # α of the length penalty
    prefix: str = ""  # the pieces with which the translation begins, separated by spaces
    forbidden: str = ""  # words that the translation must not contain, as they were typed
    # the translation as a person wrote it, a space where all was deleted; "" for the model's own
    edited: str = ""
    model: str = ""  # the name of the one that translates

    @property
    def steers(self) -> str:
        """Text on how this differs from the model's own translation, or ""."""
        prefix = f"begins with {self.quoted_prefix}" if self.prefix else ""
        return "your version" if self.edited else prefix

    @property
    def quoted_prefix(self) -> str:
        """The prefix as readable text, shortened."""
        return quoted(shorten(as_text(self.prefix.split())))


USUAL = SearchRequest("")
"""A request of no text, with each option as it is at first; no constraint is in force."""


def as_text(pieces: Sequence[str]) -> str:
    """Join pieces to readable text."""
    return "".join(pieces).replace(tokenizer.WORD_START, " ").strip()


def settings_of(request: SearchRequest) -> SearchSettings:
    """Return the settings of the search."""
    values: dict[str, Any] = {
        option.field: option.as_setting(getattr(request, option.field)) for option in OPTIONS
    }
    return SearchSettings(**values)


def typed(settings: SearchSettings) -> dict[str, Any]:
    """Return the fields of a request for these settings, by name."""
    return {option.field: option.as_typed(getattr(settings, option.field)) for option in OPTIONS}


def unconstrained(settings: SearchSettings) -> SearchSettings:
    """Return the settings without the constraints, which belong to one language."""
    usual = SearchSettings()
    return replace(settings, **{name: getattr(usual, name) for name in settings.constrained})


def arguments(settings: SearchSettings) -> dict[str, Any]:
    """Return the unusual arguments of a search."""
    values = ((option.field, getattr(settings, option.field)) for option in OPTIONS)
    return {name: x for name, x in values if x not in ((), getattr(SearchSettings(), name))}
