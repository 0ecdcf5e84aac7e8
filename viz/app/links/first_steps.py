"""Five stops that a newcomer walks along, from the first translation to Figure 1."""

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from viz.app.links import address, navigation
from viz.draw.labels import KINDS_BY_NAME


class Stop(NamedTuple):
    """A view of the app that shows one thing."""

    page: str
    title: str
    choices: Mapping[str, str]
    note: str = ""


STOPS = (
    Stop("translate", "Watch it translate", {}),
    Stop("translate", "Break it", {"break": "0"}),
    Stop("inside", "How one head computes", {"at": "1"}),
    Stop(
        "training",
        "How it learned this",
        {},
        " (another model like this one, on a sentence of its own)",
    ),
    Stop("architecture", "Figure 1 at work", {}),
)


_SENTENCE = ("model", "text")  # names in the address


def show(page: str, head: Mapping[str, str] | None = None) -> None:
    """Draw where the reader is, and the way on and back; the first page is the first stop.

    `head` are the choices of the head that is watched here, which the next page opens.
    """
    given = st.query_params.get(address.STOP, "")
    number = int(given) if given in map(str, range(1, len(STOPS) + 1)) else 0
    if not number and page == STOPS[0].page and not address.in_class():
        number = 2 if STOPS[1].choices.keys() & st.query_params.keys() else 1
    if not number or STOPS[number - 1].page != page:
        return
    with st.container(key="first-steps", horizontal=True, gap="small"):
        stop = STOPS[number - 1]
        if number > 1:
            link(number - 1, "← Back")
        st.text(f"{number} of {len(STOPS)}: {stop.title}{stop.note}")
        if number < len(STOPS):
            link(number + 1, f"Next: {STOPS[number].title} →", head)
        else:  # `js/menus.js` puts the cursor into the sentence
            with st.container(key="own-sentence", width="content"):
                navigation.plain_link(STOPS[0].page, "Now your own sentence →", {})


def link(number: int, label: str, head: Mapping[str, str] | None = None) -> None:
    """Draw a link to a stop."""
    stop = STOPS[number - 1]
    carried = (head or {}) if stop.page != STOPS[0].page else _name_watched_head()
    # a link within a page would take the sentence out of the address
    sentence = {name: st.query_params[name] for name in _SENTENCE if name in st.query_params}
    choices = {**stop.choices, **carried, **sentence, address.STOP: str(number)}
    navigation.plain_link(stop.page, label, choices)


def _name_watched_head() -> dict[str, str]:
    """Name the head that is open on this page as the player does, if there is one."""
    kind, *place = (
        st.query_params.get(name) or st.session_state.get(name)
        for name in ("kind", "layer", "head")
    )
    if kind in KINDS_BY_NAME and all(place):
        return {address.WATCHED: "-".join([KINDS_BY_NAME[kind], *map(str, place)])}
    return {}
