"""Five stops that a newcomer walks along, from the first translation to Figure 1."""

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from viz.app.links import address, navigation


class Stop(NamedTuple):
    """A view of the app that shows one thing."""

    page: str
    title: str
    choices: Mapping[str, str]


STOPS = (
    Stop("translate", "Watch it translate", {}),
    Stop("translate", "Break it", {"break": "0"}),
    Stop("inside", "How one head computes", {}),
    Stop("training", "How it learned this", {}),
    Stop("architecture", "Figure 1 at work", {}),
)


def show(page: str) -> None:
    """Draw where the reader is, and the way on and back; the first page is the first stop."""
    given = st.query_params.get(address.STOP, "")
    number = int(given) if given in map(str, range(1, len(STOPS) + 1)) else 0
    if not number and page == STOPS[0].page and not address.in_class():
        number = 2 if STOPS[1].choices.keys() & st.query_params.keys() else 1
    if not number or STOPS[number - 1].page != page:
        return
    with st.container(key="first-steps", horizontal=True, gap="small"):
        if number > 1:
            link(number - 1, f"← {STOPS[number - 2].title}")
            st.text(f"{number} of {len(STOPS)}: {STOPS[number - 1].title}")
        if number < len(STOPS):
            link(number + 1, f"Next: {STOPS[number].title} →")
        else:
            navigation.plain_link(STOPS[0].page, "Back to the first page: your own sentence →", {})


def link(number: int, label: str) -> None:
    """Draw a link to a stop."""
    stop = STOPS[number - 1]
    navigation.plain_link(stop.page, label, {**stop.choices, address.STOP: str(number)})
