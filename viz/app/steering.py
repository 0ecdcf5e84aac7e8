"""What a person asks of the search: one state, which stands in the address and can be undone.

The text, beam size and α of the length penalty (§6.1), a prefix that is forced, words that are
forbidden, and a translation that was edited by hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from transformer.decoding import ALPHA as PAPERS_ALPHA
from transformer.decoding import BEAM_SIZE
from transformer.tokenizer import WORD_START
from viz.app import address
from viz.app.models import MODEL
from viz.app.undo import PAUSE, History
from viz.draw.labels import quoted

TEXT, BEAM, ALPHA, PREFIX, FORBID = "text", "beam", "alpha", "prefix", "forbid"
EDITED = "edited"
NAMES = (TEXT, BEAM, ALPHA, PREFIX, FORBID, EDITED, MODEL)
"""Of the fields of `Asked` in the URL, in their order."""

BEAMS = (1, 2, 4, 8)
ALPHAS = (0.0, 2.0)
"""The smallest and the largest; 0 is no penalty, and at 1 the score is about log p per piece."""

_QUOTE = 40  # characters of a prefix that are quoted

_SEEN, _RELEASED = "steering.seen", "steering.released"
_HISTORY, _WRONG = "steering.history", "steering.wrong"


class Asked(NamedTuple):
    """What is asked of the search.

    Args:
        text: to be translated, as it was typed.
        beam_size: hypotheses that the search follows.
        alpha: α of the length penalty.
        prefix: the pieces with which the translation begins, separated by blanks.
        forbid: words that the translation must not contain, as they were typed.
        edited: the translation as a person wrote it, a blank where all of it was deleted; ""
            for the model's own.
        model: the name of the one that translates.
    """

    text: str
    beam_size: int = BEAM_SIZE
    alpha: float = PAPERS_ALPHA
    prefix: str = ""
    forbid: str = ""
    edited: str = ""
    model: str = ""

    @property
    def pieces(self) -> tuple[str, ...]:
        """The pieces of the prefix."""
        return tuple(self.prefix.split())

    @property
    def forbidden(self) -> tuple[str, ...]:
        """The forbidden words; a comma may stand between two."""
        return tuple(dict.fromkeys(word.rstrip(",") or word for word in self.forbid.split()))

    @property
    def steers(self) -> str:
        """What makes this another translation than the model's own, in a few words; or ""."""
        if self.edited:
            return "edited by hand"
        if self.prefix:
            return f"begins with {self.quoted_prefix}"
        return ""

    @property
    def quoted_prefix(self) -> str:
        """The prefix as a person reads it, in a few letters."""
        return quoted(_shortened(as_text(self.pieces)))


def as_text(pieces: Sequence[str]) -> str:
    """Pieces as a person reads them."""
    return "".join(pieces).replace(WORD_START, " ").strip()


def _shortened(text: str) -> str:
    return text if len(text) <= _QUOTE else f"{text[: _QUOTE - 1].rstrip()}…"


def force(pieces: Sequence[str]) -> None:
    """Let the next run begin its translation with these pieces."""
    st.session_state[PREFIX], st.session_state[EDITED] = " ".join(pieces), ""


def edit(translation: str) -> None:
    """Let the next run take this for the translation."""
    # "" is the model's own, and would fill the field again under who has just emptied it
    st.session_state[PREFIX], st.session_state[EDITED] = "", translation or " "


def release() -> None:
    """Let the next run find the translation by itself; the settings of the search stay."""
    st.session_state[PREFIX] = st.session_state[EDITED] = ""


def ask(asked: Asked) -> None:
    """Let the next run ask all of this."""
    st.session_state.update(zip(NAMES, asked, strict=True))
    st.session_state[_SEEN] = asked  # nothing of it belongs to what was there before
    for said in (_RELEASED, _WRONG):
        st.session_state.pop(said, None)


def undo() -> None:
    """Let the next run ask what was asked before."""
    found = history()
    if (asked := found.now if _is_unnoted() else found.undo()) is not None:
        ask(asked)


def redo() -> None:
    """Let the next run ask what was undone last."""
    if (asked := history().redo()) is not None:
        ask(asked)


def can_undo() -> bool:
    """Whether there is something to go back to."""
    return bool(history().before) or _is_unnoted()


def _is_unnoted() -> bool:
    """Whether what is asked now was too long for the history."""
    now = history().now
    return now is not None and now != st.session_state.get(_SEEN)


def history() -> History[Asked]:
    """The history of this reader."""
    found: History[Asked] = st.session_state.setdefault(_HISTORY, History())
    return found


def carry(linked: Mapping[str, str]) -> None:
    """Carry everything to another page, however early the click on it.

    The browser carries it in the address, but only once the bar of the first page has reached it.

    Args:
        linked: what the link that opened the session asked for.
    """
    for name in NAMES:
        if name in st.query_params:
            continue
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]  # puts it into the address as well
        elif name in linked and not problem_of(name, linked[name]):
            value = _READ[name](linked[name])
            st.session_state[name], st.query_params[name] = value, str(value)


def problem_of(name: str, value: str) -> str:
    """What is wrong with a value in a link, as a sentence; or ""."""
    if name == BEAM and value not in map(str, BEAMS):
        beams = f"{', '.join(map(str, BEAMS[:-1]))} or {BEAMS[-1]}"
        return f"There is no beam of {_shortened(value)}: it is {beams}, and here {BEAM_SIZE}."
    if name == ALPHA and not _is_alpha(value):
        least, most = ALPHAS
        return (
            f"{_shortened(value)} is no α of the length penalty: it is a number from {least:g} to "
            f"{most:g}, and here {PAPERS_ALPHA:g}."
        )
    return ""


def problems_of_link() -> list[str]:
    """What is wrong with the address; before the fields are drawn, which ignore it."""
    asked = {name: address.asked(name) for name in NAMES}
    problems = [problem_of(name, value) for name, value in asked.items() if value is not None]
    if address.is_cut(FORBID):
        problems.append(
            f"The link has more forbidden words than fit: they were cut to "
            f"{address.MAX_CHARACTERS} characters."
        )
    return [problem for problem in problems if problem]


def _is_alpha(value: str) -> bool:
    try:
        return ALPHAS[0] <= float(value) <= ALPHAS[1]  # which nan is not
    except ValueError:
        return False


_READ: dict[str, Callable[[str], object]] = {**dict.fromkeys(NAMES, str), BEAM: int, ALPHA: float}


def release_outdated() -> None:
    """Release what belongs to another sentence or model than there is now.

    After the menu of models, before the other fields.
    """
    state = st.session_state
    seen: Asked | None = state.get(_SEEN)
    ctx = get_script_run_ctx()
    if seen is None:
        return
    other_model = state.get(MODEL, seen.model) != seen.model
    if state.get(TEXT) == seen.text and not other_model:
        return
    said, at = state.pop(_RELEASED, ("", 0.0))
    if ctx is not None and ctx.is_history_navigation:
        return  # Back, Forward and links bring a sentence with what belongs to it
    now = time.monotonic()
    if now - at < PAUSE:  # what is said of the first letter is still to be read after the last
        state[_RELEASED] = said, now
    same = state.get(PREFIX, "") == seen.prefix and state.get(EDITED, "") == seen.edited
    if same and seen.steers:
        release()
        what = (
            "The translation edited by hand" if seen.edited else f"The prefix {seen.quoted_prefix}"
        )
        to = "model" if other_model else "sentence"
        said = f"{what} belonged to the {to} before; Undo on the Translate page brings it back."
        state[_RELEASED] = said, now


def see(asked: Asked, most_letters: int, wrong: str = "") -> None:
    """Note what this run asks.

    Args:
        most_letters: of a text that is kept to be undone; nobody can use a longer one.
        wrong: what is wrong with the link, which stands until something else is asked.
    """
    state = st.session_state
    seen: Asked | None = state.get(_SEEN)
    typed = ""
    if seen is not None and asked.text != seen.text:
        typed = TEXT
    elif seen is not None and asked != seen:
        if asked.model == seen.model:  # else it is said of this model
            state.pop(_RELEASED, None)
        typed = EDITED if asked.edited and asked.edited != seen.edited else ""
    if wrong or asked != seen:
        state[_WRONG] = wrong
    if max(len(asked.text), len(asked.edited)) <= most_letters:
        history().see(asked, time.monotonic(), typed)
    state[_SEEN] = asked


def notices() -> list[str]:
    """Plain sentences on what became of what was asked."""
    said = [st.session_state.get(_WRONG, ""), st.session_state.get(_RELEASED, ("",))[0]]
    return [sentence for sentence in said if sentence]
