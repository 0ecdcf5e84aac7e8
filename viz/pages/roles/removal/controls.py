"""Controls of the view “Take away”: every choice stands in the URL."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException

from transformer import AttentionTrace, HeadlightError, Translator
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal, Replacement
from transformer.analysis.heads.removal_text import format_removals, parse_removals
from viz.app.cache import cached_results
from viz.app.chrome.fields import choose_one, text_field, text_input, typed
from viz.app.chrome.head_picker import open_head, pick_head
from viz.app.chrome.problems import without_paths
from viz.app.links.navigation import REMOVED, TAKE_AWAY, VIEW
from viz.app.sentence import sentence_bar
from viz.pages.roles.removal.undo_buttons import history_of_session, undo_buttons

HOW, WHICH, DONOR = "removed_how", "removed_map", "donor"
"""Names in the URL."""

REPLACEMENTS: dict[str, Replacement] = {
    "zero": "zero",
    "uniform": "uniform",
    "mean": "mean",
    "painted": "rows",
    "patched z": "z",
    "patched map": "weights",
}
"""Replacements of a head by their names on the screen and in the URL."""

_HELP = "  \n".join(
    (
        "What stands in the place of a head that is switched off.",
        "**zero**: its output z is 0",
        "**uniform**: each row looks evenly at all that it may see",
        "**mean**: z is its mean over a corpus, where that was measured",
        "**painted**: rows of the open head look where you say",
        "**patched z**, **patched map**: its z, or its weights, on a second sentence of the same "
        "shape",
    )
)

Which = Literal["after", "before", "difference"]


@dataclass(frozen=True)
class Controls:
    """The choices of the view.

    Args:
        head: the open head.
        replacement: the replacement of the head that the next click switches off.
        removed: the text of the heads that are off, as in the link.
        which: the map of the open head that is drawn.
    """

    head: Head
    replacement: Replacement
    removed: str
    which: Which


def draw(translator: Translator, row: DeltaGenerator, below: DeltaGenerator) -> Controls:
    """Draw the controls.

    Args:
        translator: the translator of this page.
        row: the container of all but one.
        below: the container of the field with the heads that are off.
    """
    with below:
        removed = text_input(
            "Heads that are off, as in the link",
            key=REMOVED,
            help="c1.3 is head 3 of layer 1 of cross-attention, counted from 0, with e for the "
            "encoder and d for the decoder; u after it is uniform, m the mean, z and w patched.",
            placeholder="none",
            autocomplete="off",
        )
    history = history_of_session()
    history.see(removed, 0.0)
    with row:
        head = pick_head(translator)
        how = st.selectbox(
            "By", list(REPLACEMENTS), key=HOW, bind="query-params", width=185, help=_HELP
        )
        undo_buttons(history, choose_removed)
        which = choose_one("Map", get_args(Which), WHICH)
    return Controls(head, REPLACEMENTS[how], removed.strip(), which)


def choose_removed(text: str) -> None:
    """Set the heads that are off in the next run of the page, as the link has them."""
    st.session_state[REMOVED] = text


def removed_now(layers: int, heads: int) -> list[Removal]:
    """Return the heads that are off when a click arrives.

    Those of the page that was clicked can be fewer: a quick second click ends the run of the first.
    Heads that the model does not have, or that the link names twice, are left out.

    Args:
        layers: the number of layers of the model. The model itself is not an argument, since a
            click's handler stays in memory with the tab.
        heads: the number of heads of each layer.
    """
    removals, _ = parse_removals(typed(REMOVED), None)
    by_place = {removal.place: removal for removal in reversed(removals)}
    return [
        removal
        for removal in removals
        if removal.layer < layers and removal.head < heads and by_place[removal.place] is removal
    ]


def second_sentence(
    translator: Translator, controls: Controls, removals: Sequence[Removal]
) -> tuple[AttentionTrace | None, str]:
    """Return the second sentence's trace, and a message on what is wrong with it, or "".

    Its field is drawn where something is to be patched from it.
    """
    replacements = {controls.replacement, *(removal.how for removal in removals)}
    if not replacements & {"z", "weights"}:
        return None, ""
    text = text_field(
        "Second sentence, from which heads are patched",
        key=DONOR,
        placeholder=f"As many {translator.source_language} and {translator.target_language} pieces "
        "as the one in the bar",
    )
    if not text.strip():
        return None, ""
    try:
        translation = cached_results.translate(
            translator, text, st.session_state[sentence_bar.BEAM]
        )
        return cached_results.trace(translator, translation), ""
    except HeadlightError as error:
        return None, f"Second sentence: {without_paths(error)}"


def open_removal(head: Head) -> None:
    """Open the view “Take away” in the next run, with this head removed and open."""
    open_head(head)
    st.session_state[VIEW] = TAKE_AWAY
    st.session_state[REMOVED] = removed = format_removals([Removal(*head)])
    # the field that holds it is not on the page yet, so nothing else puts it into the address;
    # after a double click it is, and does so by itself
    with suppress(StreamlitAPIException):
        st.query_params[REMOVED] = removed
