"""Painted rows of the open head's map: each looks evenly at chosen keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from transformer import AttentionTrace
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from viz.app.chrome.fields import controls_row
from viz.app.chrome.mounts import say_late
from viz.app.sentence import search_request, sentence_bar
from viz.draw.labels import display_tokens, row_names
from viz.pages.roles.removal.changes import Change, format_changes, paint_row
from viz.pages.roles.removal.controls import current_changes

_ROW, _KEYS = "removal-row", "removal-keys"


def paint_rows(
    trace: AttentionTrace,
    head: Head,
    changes: Sequence[Change],
    choose: Callable[[str], None],
) -> None:
    """Draw the menus that paint a row of the open head, and set the link by `choose`."""
    request = sentence_bar.drawn_from().requested
    axes = by_pieces(trace, head.kind)
    names = row_names(axes.labels.queries, reads=axes.reads, writes=axes.writes)
    tokens = display_tokens(axes.labels.keys)
    if isinstance(row := st.session_state.get(_ROW), int):
        st.session_state[_ROW] = min(row, len(names) - 1)  # another sentence may have fewer
    with controls_row("painting"):
        row = st.selectbox(
            "Paint",
            range(len(names)),
            format_func=lambda n: f"{n + 1} {names[n]}",
            key=_ROW,
        )
        shape = len(names), len(tokens)
        st.session_state[_KEYS] = list(painted_rows(changes, head, shape).get(row, ()))

        layers, heads = trace.weights(head.kind).shape[:2]

        def paint() -> None:
            if search_request.is_asked(request):
                keys = st.session_state[_KEYS]
                current = current_changes(layers, heads)
                choose(format_changes(paint_row(current, head, shape, row, keys)))
            else:
                say_late()

        st.multiselect(
            "so that it looks evenly at",
            # the causal mask hides later keys from a row of the decoder
            range(row + 1 if head.kind == "decoder_self" else len(tokens)),
            format_func=lambda n: f"{n + 1} {tokens[n]}",
            key=_KEYS,
            placeholder="as it was: choose tokens",
            on_change=paint,
        )


def painted_rows(
    changes: Sequence[Change], head: Head, shape: tuple[int, int]
) -> dict[int, tuple[int, ...]]:
    """Return the painted rows of a head on a map of this shape, with their keys."""
    return {
        row: keys
        for change in changes
        if change.head == head and change.how == "rows" and change.shape == shape
        for row, keys in change.rows
    }


def toggle_squares(
    changes: Sequence[Change],
    head: Head,
    shape: tuple[int, ...],
    squares: Sequence[tuple[int, int]],
) -> str:
    """Return the text of the link after squares were pressed: their row's painted keys are toggled.

    Args:
        changes: the current changes.
        head: the open head.
        shape: numbers of queries and keys of its map.
        squares: (row, key) pairs of one row, at least one; all follow the first one.
    """
    queries, keys = shape
    row, first = squares[0]
    before = set(painted_rows(changes, head, (queries, keys)).get(row, ()))
    # the causal mask hides later keys from a row of the decoder
    pressed = {key for _, key in squares if head.kind != "decoder_self" or key <= row}
    after = before - pressed if first in before else before | pressed
    return format_changes(paint_row(changes, head, (queries, keys), row, sorted(after)))
