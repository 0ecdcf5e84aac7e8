"""Rows of the open head's map as the reader paints them: each looks evenly at chosen keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from transformer import AttentionTrace
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals, with_row
from viz.app.chrome.mounts import say_late
from viz.app.sentence import search_request, sentence_bar
from viz.draw.labels import display_tokens, row_names
from viz.pages.roles.removal.controls import removed_now

_ROW, _KEYS = "removal-row", "removal-keys"


def paint_rows(
    trace: AttentionTrace,
    head: Head,
    removals: Sequence[Removal],
    choose: Callable[[str], None],
) -> None:
    """Draw the menus that paint a row of the open head.

    Args:
        trace: the trace of the sentence in the bar.
        head: the open head.
        removals: the heads that are switched off or painted now.
        choose: the function that takes the text of the link of the next run.
    """
    request = sentence_bar.drawn_from().requested
    axes = by_pieces(trace, head.kind)
    names = row_names(axes.labels.queries, reads=axes.reads, writes=axes.writes)
    tokens = display_tokens(axes.labels.keys)
    if isinstance(row := st.session_state.get(_ROW), int):
        st.session_state[_ROW] = min(row, len(names) - 1)  # another sentence may have fewer
    with st.container(key="painting", horizontal=True, vertical_alignment="bottom", gap="small"):
        row = st.selectbox(
            "Paint",
            range(len(names)),
            format_func=lambda n: f"{n + 1} {names[n]}",
            key=_ROW,
        )
        shape = len(names), len(tokens)
        st.session_state[_KEYS] = list(painted_rows(removals, head, shape).get(row, ()))

        layers, heads = trace.weights(head.kind).shape[:2]

        def chosen() -> None:
            if search_request.is_asked(request):
                keys = st.session_state[_KEYS]
                now = removed_now(layers, heads)
                choose(format_removals(with_row(now, head, shape, row, keys)))
            else:
                say_late()

        st.multiselect(
            "so that it looks evenly at",
            # its mask shows a row of the decoder nothing that comes later
            range(row + 1 if head.kind == "decoder_self" else len(tokens)),
            format_func=lambda n: f"{n + 1} {tokens[n]}",
            key=_KEYS,
            placeholder="as it was: choose tokens",
            on_change=chosen,
        )


def painted_rows(
    removals: Sequence[Removal], head: Head, shape: tuple[int, int]
) -> dict[int, tuple[int, ...]]:
    """Return the rows of a head that are painted on a map of this shape, with their keys."""
    return {
        row: keys
        for removal in removals
        if removal.place == head and removal.shape == shape
        for row, keys in removal.rows
    }


def painted_squares(
    removals: Sequence[Removal],
    head: Head,
    shape: tuple[int, ...],
    squares: Sequence[tuple[int, int]],
) -> str:
    """Return the text of the link after squares were pressed.

    They join their row's painted keys, or leave them: all of them do as the first.

    Args:
        removals: the heads that are switched off or painted now.
        head: the head of the map.
        shape: queries and keys of the map.
        squares: row and column of squares of one row, at least one.
    """
    queries, keys = shape
    row, first = squares[0]
    before = set(painted_rows(removals, head, (queries, keys)).get(row, ()))
    # what comes later is hidden from a row of the decoder
    pressed = {key for _, key in squares if head.kind != "decoder_self" or key <= row}
    after = before - pressed if first in before else before | pressed
    return format_removals(with_row(removals, head, (queries, keys), row, sorted(after)))
