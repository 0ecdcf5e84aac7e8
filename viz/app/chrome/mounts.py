"""The pictures of `viz.draw` in Streamlit: the only module that calls `st.components.v2`.

A page encodes a picture, and `mount` puts it there; where the picture sends something back, one of
the others does. Each takes what says whether a choice can be meant, and a callback, which takes
what the reader chose, before the page's script runs again. `key` names the component in the session
(one key, one place on the page). What a browser sends can be anything, so it is checked here.

One component draws all pictures. Its script is loaded once, by an address that changes with its
content; a message holds no program text. Streamlit finds the script through
`headlight/pyproject.toml`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.errors import StreamlitAPIException

from viz.app.links.address import MAX_TYPED
from viz.draw.alternatives import Edited, EditorPiece, Forced, choice_of, edit_of
from viz.draw.attention_map import squares_of
from viz.draw.beam_tree import DrawnNode, node_of
from viz.draw.head_grid import GridPart, click_of, encode_selection
from viz.draw.inside_head import step_of
from viz.draw.mask_grids import MaskGrid, Row, row_of

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

    from transformer.analysis.heads.head import Head
    from transformer.trace import Labels


COMPONENT = "headlight.pictures"
SCRIPT = "headlight-*.js"
NOT_INSTALLED = (
    "Streamlit does not find the script of the pictures: install Headlight with `pip install -e .` "
    "in its folder, then start the app again."
)


def mount(key: str, data: bytes, picked: Callable[[object], None] | None = None) -> None:
    """Put a component on the page; `picked` takes what the browser sends, whatever that is."""
    try:
        pictures = _pictures()
    except StreamlitAPIException:
        st.error(NOT_INSTALLED)
        return
    if picked is None:
        pictures(key=key, data=data)
    else:
        pictures(key=key, data=data, on_picked_change=lambda: picked(_sent(key)))


def _sent(key: str) -> object:
    """Give what the browser sent for a component; None where it is no message of ours."""
    state = st.session_state.get(key)
    value = state.get("picked") if isinstance(state, Mapping) else None
    return value if len(json.dumps(value, ensure_ascii=False)) <= MAX_TYPED else None


@cache
def _pictures() -> ComponentRenderer:
    """Return the component that draws all pictures: the data say which.

    Raises:
        StreamlitAPIException: if Streamlit does not find the folder with the script, or no script
            in it.
    """
    # not when this module is imported: only a running app knows the folder. The shadow root keeps
    # Streamlit's styles out and these in
    return st.components.v2.component(COMPONENT, js=SCRIPT)


def mount_painted_map(
    key: str,
    data: bytes,
    title: str,
    labels: Labels,
    on_paint: Callable[[list[tuple[int, int]]], None],
) -> None:
    """Mount a map that is painted on, encoded with `paints`.

    Args:
        key: key of the component.
        data: the encoded map.
        title: of the map, as it was encoded.
        labels: likewise.
        on_paint: is told row and column of the squares that were pressed, all of one row; what was
            pressed on another map came too late.
    """

    def picked(value: object) -> None:
        if squares := squares_of(value, title, labels):
            on_paint(squares)
        else:
            say_late()

    mount(key, data, picked)


def mount_grid(
    key: str,
    data: bytes,
    parts: Sequence[GridPart],
    *,
    selected: Head,
    on_pick: Callable[[Head], None],
) -> None:
    """Every head small, encoded under the same key; the page alone remembers which is chosen."""
    shapes = {part.kind: part.weights.shape[:2] for part in parts}

    def picked(value: object) -> None:
        if (click := click_of(value, shapes)) is not None:
            head, st.session_state[f"{key}-answered"] = click
            on_pick(head)

    mount(key, data, picked)
    mount(f"{key}-selection", encode_selection(key, selected))


def answered_click(key: str) -> int:
    """Return the number of the last click in a grid, which is encoded with the answer to it."""
    number: int = st.session_state.get(f"{key}-answered", 0)
    return number


def mount_inside(key: str, data: bytes, steps: int, on_step: Callable[[int], None]) -> None:
    """Mount the walk through a head."""

    def picked(value: object) -> None:
        if (step := step_of(value, steps)) is not None:
            on_step(step)

    mount(key, data, picked)


def mount_masks(
    key: str, data: bytes, grids: Sequence[MaskGrid], on_pick: Callable[[Row], None]
) -> None:
    """Mount the masks of a batch, of which a row can be chosen."""

    def picked(value: object) -> None:
        if (row := row_of(value, grids)) is not None:
            on_pick(row)

    mount(key, data, picked)


def mount_architecture(
    key: str, data: bytes, names: Collection[str], on_pick: Callable[[str], None]
) -> None:
    """Figure 1, of which a box can be opened, by its name."""

    def picked(value: object) -> None:
        if isinstance(value, str) and value in names:
            on_pick(value)

    mount(key, data, picked)


def mount_editor(
    key: str,
    data: bytes,
    pieces: Sequence[EditorPiece],
    on_change: Callable[[Edited | Forced | None], None],
) -> None:
    """Mount a translation that is edited in place.

    `on_change` gets None for a choice among pieces that are no longer these.
    """
    mount(key, data, lambda value: on_change(edit_of(value, pieces)))


def mount_tree(
    key: str, data: bytes, nodes: Sequence[DrawnNode], on_pick: Callable[[int | None], None]
) -> None:
    """Every prefix of a search, of which one can be picked: its node, None if that is no more."""
    mount(key, data, lambda value: on_pick(node_of(value, nodes)))


def mount_bars(
    key: str,
    data: bytes,
    steps: Sequence[Sequence[tuple[str, float]]],
    on_pick: Callable[[tuple[int, int] | None], None],
) -> None:
    """Mount the most probable pieces of each step, of which one can be picked.

    `on_pick` gets None for one among steps that are no longer these.
    """
    mount(key, data, lambda value: on_pick(choice_of(value, steps)))


LATE = "That belonged to a sentence or model before: do it again in what stands here now."

_LATE = "late_clicks.late"


def say_late() -> None:
    """Let the next run say that a click came too late."""
    st.session_state[_LATE] = True


def show_late() -> None:
    """Say it, once."""
    if st.session_state.pop(_LATE, False):
        st.caption(LATE)
