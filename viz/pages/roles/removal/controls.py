"""Controls of the view “Take away”; every choice is kept in the URL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException

from transformer import AttentionTrace, HeadlightError, Translator
from transformer.analysis.heads.head import Head
from viz.app.cache import cached_results
from viz.app.chrome.fields import choose_one, text_field
from viz.app.chrome.head_picker import open_head, pick_head
from viz.app.links.role_views import REMOVED, TAKE_AWAY, VIEW
from viz.app.links.undo import History
from viz.app.sentence import sentence_bar
from viz.pages.roles.removal.changes import Change, How, format_changes, parse_changes

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
"""Replacements by their name on the screen and in the URL."""

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

MapChoice = Literal["after", "before", "difference"]


@dataclass(frozen=True)
class Controls:
    """Choices of the view.

    Args:
        head: the open head.
        how: replacement of a head that the next click removes.
        removed: the removed heads, as text of the link.
        which: the map of the open head that is drawn.
    """

    head: Head
    how: How
    removed: str
    which: MapChoice


def draw(translator: Translator, row: DeltaGenerator, below: DeltaGenerator) -> Controls:
    """Draw the controls into `row`, and the text of the link into `below`."""
    with below:
        removed = st.text_input(
            "Heads that are off, as in the link",
            key=REMOVED,
            bind="query-params",
            help="c1.3 is head 3 of layer 1 of cross-attention, counted from 0, with e for the "
            "encoder and d for the decoder; u after it is uniform, m the mean, z and w patched.",
            placeholder="none",
            autocomplete="off",
        )
    history = session_history()
    history.see(removed or "", 0.0)
    with row:
        head = pick_head(translator)
        how = st.selectbox("By", list(HOWS), key=HOW, bind="query-params", width=185, help=_HELP)
        undo_buttons(history, choose_removed)
        which = choose_one("Map", get_args(MapChoice), WHICH)
    return Controls(head, HOWS[how], (removed or "").strip(), which)


def choose_removed(text: str) -> None:
    """Set the removed heads for the next run of the page, as text of the link."""
    st.session_state[REMOVED] = text


def current_changes(layers: int, heads: int) -> list[Change]:
    """Return the heads that are removed when a click arrives.

    The page that was clicked may show fewer: a quick second click interrupts the run of the first.

    Args:
        layers: number of layers. The model itself is not passed, because Streamlit keeps the
            arguments of callbacks in memory; heads that it does not have are dropped, as is a
            repeated one.
        heads: number of heads of each layer.
    """
    named, _ = parse_changes(st.session_state.get(REMOVED) or "", None)
    existing = [
        change for change in named if change.head.layer < layers and change.head.head < heads
    ]
    first = {change.head: change for change in reversed(existing)}
    return [change for change in existing if first[change.head] is change]


def second_sentence(
    translator: Translator, controls: Controls, changes: Sequence[Change]
) -> tuple[AttentionTrace | None, str]:
    """Return the second sentence's trace, or None with a message on what is wrong, or "".

    Draw its field where a head is to be patched from it.
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
        return None, f"Second sentence: {error}"


def open_without(head: Head) -> None:
    """Open this view in the next run, with this head removed and open."""
    open_head(head)
    st.session_state[VIEW] = TAKE_AWAY
    st.session_state[REMOVED] = removed = format_changes([Change(head)])
    # the field is not on the page yet, so the address is set here; after a double click the field
    # exists, and Streamlit refuses
    with suppress(StreamlitAPIException):
        st.query_params[REMOVED] = removed


_HISTORY = "removal.history"


def session_history() -> History[str]:
    """Return the session's history of link texts."""
    history: History[str] = st.session_state.setdefault(_HISTORY, History())
    return history


def undo_buttons(history: History[str], choose: Callable[[str], None]) -> None:
    """Draw undo, redo and “all back”, which `choose` a text of the link for the next run."""
    st.button(
        "Undo",
        key="removal-undo",
        disabled=not history.before,
        on_click=lambda: choose(history.undo() or ""),
    )
    st.button(
        "Redo",
        key="removal-redo",
        disabled=not history.undone,
        on_click=lambda: choose(history.redo() or ""),
    )
    st.button("All back", key="removal-none", disabled=not history.now, on_click=lambda: choose(""))
