"""The request to the search in the URL: what is wrong there, and how it comes to another page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from transformer.decoding import ALPHA as PAPERS_ALPHA
from transformer.decoding import BEAM_SIZE
from viz.app import address
from viz.app.search_request import ALPHA, ALPHAS, BEAM, BEAMS, NAMES, shorten
from viz.draw.labels import quoted

_NUMBERS: dict[str, Callable[[str], object]] = {BEAM: int, ALPHA: float}
"""How what is no text is read."""


def carry(linked: Mapping[str, str]) -> None:
    """Carry everything to another page, however early the click on it.

    The browser carries it in the address, but only once the bar of the first page has reached it.

    Args:
        linked: what the link that opened the session named.
    """
    for name in NAMES:
        if name in st.query_params:
            continue
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]  # puts it into the address as well
        elif name in linked and not problem_of(name, linked[name]):
            value = _NUMBERS.get(name, str)(linked[name])
            st.session_state[name], st.query_params[name] = value, str(value)


def problem_of(name: str, value: str) -> str:
    """What is wrong with a value in a link, as a sentence; or ""."""
    if name == BEAM and value not in map(str, BEAMS):
        beams = f"{', '.join(map(str, BEAMS[:-1]))} or {BEAMS[-1]}"
        return f"There is no beam of {quoted(shorten(value))}: it is {beams}, and here {BEAM_SIZE}."
    if name == ALPHA and not _is_alpha(value):
        least, most = ALPHAS
        return (
            f"{quoted(shorten(value))} is no α of the length penalty: it is a number from "
            f"{least:g} to {most:g}, and here {PAPERS_ALPHA:g}."
        )
    return ""


def problems_of_link() -> list[str]:
    """What is wrong with the address; before the fields are drawn, which ignore it."""
    raw = {name: address.raw_value(name) for name in NAMES}
    problems = [address.length_problem()]
    problems += [problem_of(name, value) for name, value in raw.items() if value is not None]
    return [problem for problem in problems if problem]


def _is_alpha(value: str) -> bool:
    try:
        return ALPHAS[0] <= float(value) <= ALPHAS[1]  # which nan is not
    except ValueError:
        return False
