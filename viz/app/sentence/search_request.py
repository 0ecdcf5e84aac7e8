"""The request to the search: one state, which stands in the address; Back brings the one before.

It has the text, beam size and α of the length penalty (§6.1), a forced prefix, forbidden words, and
a translation edited by hand.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import InputError, Translation, Translator
from viz.app.cache import cached_results, search_queue
from viz.app.chrome.fields import text_input
from viz.app.links import address
from viz.app.models import menu
from viz.app.sentence.search_options import (
    CONSTRAINTS,
    OPTIONS,
    PREFIX,
    USUAL,
    SearchRequest,
    settings_of,
)

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
                    translator, attempt.text, settings_of(attempt), watcher
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
        left_out = {option.field: getattr(USUAL, option.field)}
        attempts.append(search._replace(**left_out))
        alone = alone._replace(**left_out)
    return [*dict.fromkeys([*attempts, alone])]
