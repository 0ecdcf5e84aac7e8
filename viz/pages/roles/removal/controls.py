"""What the view “Take away” is asked to do: every choice stands in the URL."""

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
from viz.app import cached_results, sentence_bar
from viz.app.fields import choose_one, text_field, text_input, typed
from viz.app.head_picker import open_head, pick_head
from viz.app.problems import without_paths
from viz.app.role_views import REMOVED, TAKE_AWAY, VIEW
from viz.pages.roles.removal.changes import Change, How, format_changes, parse_changes
from viz.pages.roles.removal.undo_buttons import history_of_session, undo_buttons

HOW, WHICH, DONOR = "removed_how", "removed_map", "donor"
"""Names in the URL."""

HOWS: dict[str, How] = {
    "zero": "zero",
    "uniform": "uniform",
    "mean": "mean",
    "painted": "rows",
    "patched z": "z",
    "patched map": "weights",
}
"""By the name on the screen and in the URL."""

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
        how: what replaces a head that the next click switches off.
        removed: the heads that are off, as the link has them.
        which: of the maps of the open head is drawn.
    """

    head: Head
    how: How
    removed: str
    which: Which


def draw(translator: Translator, row: DeltaGenerator, below: DeltaGenerator) -> Controls:
    """Draw the controls.

    Args:
        translator: of this page.
        row: takes all but one.
        below: takes the heads that are off, as the link has them.
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
        how = st.selectbox("By", list(HOWS), key=HOW, bind="query-params", width=185, help=_HELP)
        undo_buttons(history, choose_removed)
        which = choose_one("Map", get_args(Which), WHICH)
    return Controls(head, HOWS[how], removed.strip(), which)


def choose_removed(text: str) -> None:
    """Set the heads that are off in the next run of the page, as the link has them."""
    st.session_state[REMOVED] = text


def removed_now(layers: int, heads: int) -> list[Change]:
    """The heads that are off when a click is heard, from which it goes on.

    Those of the page that was clicked can be fewer: a quick second click ends the run of the first.

    Args:
        layers: of the model, which is not given: what waits for a click stays in memory with the
            tab. What the link names beyond them, or twice, is left out.
        heads: of each layer.
    """
    named, _ = parse_changes(typed(REMOVED), None)
    there = [one for one in named if one.head.layer < layers and one.head.head < heads]
    first = {one.head: one for one in reversed(there)}
    return [one for one in there if first[one.head] is one]


def second_sentence(
    translator: Translator, controls: Controls, changes: Sequence[Change]
) -> tuple[AttentionTrace | None, str]:
    """The second sentence's trace, and what is wrong with the sentence, or "".

    Its field is drawn where something is to be patched from it.
    """
    patches = [change for change in changes if change.how in ("z", "weights")]
    if controls.how not in ("z", "weights") and not patches:
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


def open_without(head: Head) -> None:
    """Let the next run open the view that takes heads away, with this one away and open."""
    open_head(head)
    st.session_state[VIEW] = TAKE_AWAY
    st.session_state[REMOVED] = removed = format_changes([Change(head)])
    # the field that holds it is not on the page yet, so nothing else puts it into the address;
    # after a double click it is, and does so by itself
    with suppress(StreamlitAPIException):
        st.query_params[REMOVED] = removed
