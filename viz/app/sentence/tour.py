"""The tour: five pages in a fixed order, each opened on what is worth seeing there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from viz.app.chrome.explanations import as_markdown
from viz.app.links import address, navigation
from viz.draw.labels import PAGE_TITLES
from viz.findings import Finding

TOUR = "tour"
"""Name in the URL: the number of the stop, from 1."""
STOPS = ("translate", "heads", "inside", "masks", "architecture")
"""The pages in order, by their paths."""


def current_stop(page: str) -> int:
    """Return the number of the stop that the address names, 0 if it names none on this page."""
    numbers = {str(number): number for number, stop in enumerate(STOPS, 1) if stop == page}
    return numbers.get(st.query_params.get(TOUR, ""), 0)


def choices(number: int, finding: Finding | None) -> dict[str, str]:
    """Return the URL parameters that open a stop."""
    return {TOUR: str(number), **(finding.choices if finding else {})}


def main_finding(page: str, findings: Sequence[Finding]) -> Finding | None:
    """Return the first finding that the page itself shows, else the first one."""
    own = [finding for finding in findings if finding.page == page]
    return next(iter([*own, *findings]), None)


def show_stop(
    number: int,
    finding: Finding | None,
    following: Finding | None,
    sentence: Mapping[str, str],
) -> None:
    """Draw the line of a stop, with links to the next one and out of the tour.

    Args:
        number: of the stop, from 1.
        finding: what is worth seeing there, if anything.
        following: the same of the next stop.
        sentence: URL parameters of the sentence in the bar.
    """
    with st.container(key="findings", horizontal=True, gap="small"):
        st.text(f"Stop {number} of {len(STOPS)}")
        with st.container(key="tour", horizontal=True, gap="small"):
            page = STOPS[number - 1]
            if finding is not None and finding.page == page:
                url = {**sentence, **choices(number, finding)}
                navigation.plain_link(page, as_markdown(finding.text), url)
            else:
                st.text(finding.text if finding else PAGE_TITLES[page])
            if number < len(STOPS):
                following_page = STOPS[number]
                navigation.plain_link(
                    following_page,
                    f"Next stop: {PAGE_TITLES[following_page]}",
                    choices(number + 1, following),
                )
            # a button: what was chosen on the page stays
            st.button(
                "End the tour",
                key="tour-end",
                type="tertiary",
                on_click=address.choose,
                args=(TOUR, None),
            )
