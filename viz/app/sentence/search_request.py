"""The request to the search: its options, and one state, which stands in the address.

It has the text, beam size and α of the length penalty (§6.1), a forced prefix, forbidden words, and
a translation edited by hand. Back brings the one before.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import InputError, Translation, Translator, decoding
from transformer.decoding import BEAM_SIZE
from transformer.decoding.settings import SearchSettings
from transformer.text import tokenizer
from viz.app.cache import cached_results, search_queue
from viz.app.chrome.fields import text_field, text_input
from viz.app.links import address
from viz.app.models import menu
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
    def settings(self) -> SearchSettings:
        """The settings of the search."""
        values: dict[str, Any] = {
            option.field: option.as_setting(getattr(self, option.field)) for option in OPTIONS
        }
        return SearchSettings(**values)

    @property
    def steers(self) -> str:
        """Text on how this differs from the model's own translation, or ""."""
        prefix = f"begins with {self.quoted_prefix}" if self.prefix else ""
        return "your version" if self.edited else prefix

    @property
    def quoted_prefix(self) -> str:
        """The prefix as readable text, shortened."""
        return quoted(shorten(as_text(self.prefix.split())))


DEFAULTS = SearchRequest("")
"""A request of no text, with each option as it is at first; no constraint is in force."""


def as_text(pieces: Sequence[str]) -> str:
    """Join pieces to readable text."""
    return "".join(pieces).replace(tokenizer.WORD_START, " ").strip()


def fields_of(settings: SearchSettings) -> dict[str, Any]:
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


PAUSE = 2.0  # seconds for which what is said of the first letter of a sentence stays

TEXT, EDITED = "text", "edited"
NAMES = (TEXT, *(option.name for option in OPTIONS), EDITED, menu.MODEL)
"""Of the fields of `SearchRequest` in the URL, in their order."""

_SEEN, _RELEASED, _WRONG = (f"search_request.{name}" for name in ("seen", "released", "wrong"))


def put_text(text: str) -> None:
    """Let the next run translate a text."""
    st.session_state[TEXT] = text


def force(pieces: Sequence[str]) -> None:
    """Let the next run begin its translation with these pieces."""
    st.session_state[PREFIX], st.session_state[EDITED] = " ".join(pieces), ""


def edit(translation: str) -> None:
    """Let the next run score this translation instead of searching."""
    # "" is the model's own, and would fill the field again under who has just emptied it
    st.session_state[PREFIX], st.session_state[EDITED] = "", translation or " "


def release() -> None:
    """Let the next run search without a prefix or an edit; the settings of the search stay."""
    st.session_state[PREFIX] = st.session_state[EDITED] = ""


def set_request(request: SearchRequest) -> None:
    """Let the next run make this request."""
    st.session_state.update(zip(NAMES, request, strict=True))
    st.session_state[_SEEN] = request  # nothing of it belongs to what was there before
    for name in (_RELEASED, _WRONG):
        st.session_state.pop(name, None)


def is_asked(request: SearchRequest) -> bool:
    """Return whether the text and the model of a request are still those in the bar."""
    return has_model(request) and st.session_state.get(TEXT) == request.text


def has_model(request: SearchRequest) -> bool:
    """Return whether the model of a request is still that in the bar."""
    model: str = st.session_state.get(menu.MODEL, request.model)
    return model == request.model


def release_outdated() -> None:
    """Release what belongs to another sentence or model; call this after `menu.choose`."""
    state = st.session_state
    seen: SearchRequest | None = state.get(_SEEN)
    if seen is None:
        return
    if address.is_restored():
        # brings a sentence with what belongs to it; the fields do not have it yet
        state.pop(_RELEASED, None)
        return
    if is_asked(seen):
        return
    if not address.has_arrived():  # a link brings a sentence with what belongs to it
        address.forget_sentence()
    notice, at = state.pop(_RELEASED, ("", 0.0))
    now = time.monotonic()
    if now - at < PAUSE:  # what is said of the first letter is still to be read after the last
        state[_RELEASED] = notice, now
    same = state.get(PREFIX, "") == seen.prefix and state.get(EDITED, "") == seen.edited
    if same and seen.steers:
        release()
        names = "Your version" if seen.edited else f"The prefix {seen.quoted_prefix}"
        to = "sentence" if has_model(seen) else "model"
        notice = f"{names} belonged to the {to} before; Back brings it back."
        state[_RELEASED] = notice, now


def record_request(request: SearchRequest, wrong: str = "") -> None:
    """Record the request of this run, and what is `wrong` with its link, until the next."""
    state = st.session_state
    seen: SearchRequest | None = state.get(_SEEN)
    if seen is not None and request != seen and is_asked(seen):
        state.pop(_RELEASED, None)  # else it is said of this sentence and model
    if wrong or request != seen:
        state[_WRONG] = wrong
    state[_SEEN] = request


def notices() -> list[str]:
    """Return sentences on a request that was invalid or released."""
    sentences = [st.session_state.get(_WRONG, ""), st.session_state.get(_RELEASED, ("",))[0]]
    return [sentence for sentence in sentences if sentence]


def restore_from_link(linked: Mapping[str, str]) -> None:
    """Carry everything to another page, also what the bar of the first page had no time to take."""
    for name in NAMES:
        if name in st.query_params:
            continue
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]  # puts it into the address as well
        elif name in linked:
            value, option = linked[name], next((o for o in OPTIONS if o.name == name), None)
            if option is None or not option.problem(value):
                st.session_state[name] = value if option is None else option.read(value)
                address.choose(name, value)


def problems_of_link() -> list[str]:
    """List the problems of the address; call this before the fields are drawn, which hide them."""
    values = ((option, address.raw_value(option.name)) for option in OPTIONS)
    problems = (option.problem(value) for option, value in values if value is not None)
    return [problem for problem in (address.length_problem(), *problems) if problem]


def draw(text: str, model: str, *, in_link: bool) -> tuple[SearchRequest, DeltaGenerator]:
    """Draw the menu, and the fields that a style hides; return the request, and its figures."""
    with st.popover("Search", key="search-settings"):
        values = {option.field: option.draw() for option in OPTIONS if not option.hidden}
        figures = st.container(key="figures")
    with st.container(key="steering-fields"):
        values |= {option.field: option.draw() for option in OPTIONS if option.hidden}
        edited = text_input(
            "Translation edited by hand", key=EDITED, most=address.MAX_TYPED, in_link=in_link
        )
    return SearchRequest(text, **values, edited=edited, model=model), figures


def translate_request(
    translator: Translator, request: SearchRequest, watcher: search_queue.Watcher | None = None
) -> tuple[Translation, SearchRequest, str]:
    """Translate as much of a request as possible; return that too, and a sentence on the rest."""
    errors: list[InputError] = []
    for attempt in _relaxed_requests(request):
        try:
            if attempt.edited:
                given = cached_results.score(
                    translator, attempt.text, attempt.edited, attempt.alpha
                ).translation
                # the editor shows where the model is unsure
                unsure = translator.domain and translator.domain.notice(given.best.hypothesis)
                translation = replace(
                    given, notices=tuple(notice for notice in given.notices if notice != unsure)
                )
            else:
                translation = cached_results.search(
                    translator, attempt.text, attempt.settings, watcher
                )
        except InputError as refused:
            errors.append(refused)
        else:
            if not errors:
                return translation, attempt, ""
            # the same is found wrong again where something else was left out first
            wrong = " ".join(dict.fromkeys(map(str, errors)))
            return translation, attempt, f"{wrong} {_what_is_shown(request, attempt)}"
    raise errors[-1]  # there is at least one attempt


def _what_is_shown(request: SearchRequest, used: SearchRequest) -> str:
    """Say what the page shows where the search could not do all that was requested."""
    changes = [
        option.without
        for option in CONSTRAINTS
        if getattr(request, option.field) != getattr(used, option.field)
    ]
    went_on = f"The search went on {' and '.join(changes)}."
    return went_on if changes else "You see what the model writes."


def _relaxed_requests(request: SearchRequest) -> list[SearchRequest]:
    """Return the request, then it without parts that may be wrong, the text alone last."""
    search = alone = request._replace(edited="")
    attempts = [request, search]
    for option in CONSTRAINTS:
        left_out = {option.field: getattr(DEFAULTS, option.field)}
        attempts.append(search._replace(**left_out))
        alone = alone._replace(**left_out)
    return [*dict.fromkeys([*attempts, alone])]
