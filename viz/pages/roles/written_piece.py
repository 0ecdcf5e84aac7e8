"""The written piece that a view explains: its number, and buttons for all pieces."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.logits.alternatives import alternatives
from transformer.translation.score import Choice
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.markdown import as_markdown
from viz.app.links import address
from viz.draw.labels import display_tokens

WRITTEN = "written"
"""Name in the URL of the number of the piece, from 1; shared by the views."""
ALTERNATIVES = 6
"""Most probable alternatives of a step."""
MOST_BUTTONS = 60
"""Pieces up to which each has a button; a longer translation has a menu."""

_BUTTONS, _BY_DEFAULT = "written-pieces", "written.by-default"


def pick_written(
    trace: AttentionTrace, first: int, on_pick: Callable[[], None] | None = None
) -> tuple[int, str]:
    """Draw the number field and the pieces.

    Args:
        trace: the sentence with its translation.
        first: step that is selected by default.
        on_pick: called before the next run when the reader selects another step.

    Returns:
        The step, from 0, and a message if the requested one does not exist, or "".
    """
    names = display_tokens(trace.target_tokens)
    requested, problem = _requested_number(), ""
    if requested is not None and not 1 <= requested <= len(names):
        problem = (
            f"The translation has {len(names)} pieces and no piece {requested}: this is piece "
            f"{first + 1}."
        )
        requested = None
    st.session_state[WRITTEN] = requested or first + 1
    # a default, which may differ for another sentence
    st.session_state[_BY_DEFAULT] = first + 1 if requested is None else None
    with st.container(key="written-controls", horizontal=True, gap="small"):
        number = st.number_input(
            "Piece",
            1,
            len(names),
            None,  # no default value: Streamlit would leave it out of the link
            key=WRITTEN,
            bind="query-params",
            on_change=_pick,
            args=(on_pick,),
            width=190,
        )
        step = (number or first + 1) - 1
        _draw_pieces(names, step, on_pick)
    return step, problem


def _requested_number() -> int | None:
    """Return the number that the reader or the link has set, valid or not."""
    if address.is_restored():
        return None  # the field itself reads the number of the link
    value = st.session_state.get(WRITTEN, st.query_params.get(WRITTEN))
    try:
        number = None if value is None else int(value)
    except ValueError:
        return None
    return None if number == st.session_state.get(_BY_DEFAULT) else number


def _pick(on_pick: Callable[[], None] | None) -> None:
    st.session_state[_BY_DEFAULT] = None
    if on_pick:
        on_pick()


def _draw_pieces(names: Sequence[str], step: int, on_pick: Callable[[], None] | None) -> None:
    def choose() -> None:
        choice = st.session_state[_BUTTONS]
        if choice is not None:  # a second click on the same piece deselects it
            st.session_state[WRITTEN] = choice + 1
            _pick(on_pick)

    st.session_state[_BUTTONS] = step
    if len(names) > MOST_BUTTONS:
        st.selectbox(
            "Written",
            range(len(names)),
            format_func=lambda n: f"{n + 1} {names[n]}",
            key=_BUTTONS,
            on_change=choose,
            label_visibility="collapsed",
        )
        return
    labels = make_unique([as_markdown(name) for name in names])
    st.pills(
        "Written",
        range(len(names)),
        format_func=labels.__getitem__,
        key=_BUTTONS,
        on_change=choose,
        label_visibility="collapsed",
    )


def step_choices(translator: Translator, trace: AttentionTrace) -> list[tuple[Choice, ...]]:
    """Return the written piece and the most probable alternatives at each step."""
    return memo_per_trace(
        trace,
        ("alternatives", ALTERNATIVES),
        lambda: alternatives(translator.model, translator.target_tokenizer, trace, ALTERNATIVES),
    )


def least_certain_step(choices: Sequence[Sequence[Choice]]) -> int:
    """Return the step where the best alternative is nearest to the written piece."""
    tiny = 1e-30  # keeps the logarithm of a rounded 0 finite
    margins = [
        math.log(max(step[0].probability, tiny) / max(step[1].probability, tiny))
        for step in choices
    ]
    return int(np.argmin(margins))


def make_unique(labels: Sequence[str]) -> list[str]:
    """Append invisible characters so that equal labels differ.

    Streamlit identifies the choices of a widget by their labels.
    """
    return [
        label + "\u2060" * labels[:index].count(label)  # WORD JOINER
        for index, label in enumerate(labels)
    ]
