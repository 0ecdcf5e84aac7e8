"""The piece of the translation that a view asks about: a number, and the pieces to click on."""

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
"""Name in the URL of the number of the piece, from 1; the views share it."""
OTHERS = 6
"""Most probable others of a step."""
MOST_BUTTONS = 60
"""Pieces that each have a button; a longer translation has a menu."""

_BUTTONS, _BY_DEFAULT = "written-pieces", "written.by-default"


def pick_written(
    trace: AttentionTrace, first: int, on_pick: Callable[[], None] | None = None
) -> tuple[int, str]:
    """Draw the number and the pieces.

    Args:
        first: step that is chosen where neither the reader nor the link has chosen one.
        on_pick: called before the next run where the reader chooses another step.

    Returns:
        The step, from 0, and what is wrong with the one that was asked for, or "".
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
    # nobody chose this number: with another sentence it is another one
    st.session_state[_BY_DEFAULT] = first + 1 if requested is None else None
    with st.container(key="written-controls", horizontal=True, gap="small"):
        number = st.number_input(
            "Piece",
            1,
            len(names),
            None,  # so that any number stands in the link
            key=WRITTEN,
            bind="query-params",
            on_change=_chosen,
            args=(on_pick,),
            width=190,
        )
        step = (number or first + 1) - 1
        _draw_pieces(names, step, on_pick)
    return step, problem


def _requested_number() -> int | None:
    """The number that the reader or the link has chosen, whether there is such a piece or not."""
    if address.is_restored():
        return None  # the field itself takes the number of the link
    value = st.session_state.get(WRITTEN, st.query_params.get(WRITTEN))
    try:
        number = None if value is None else int(value)
    except ValueError:
        return None
    return None if number == st.session_state.get(_BY_DEFAULT) else number


def _chosen(on_pick: Callable[[], None] | None) -> None:
    st.session_state[_BY_DEFAULT] = None
    if on_pick:
        on_pick()


def _draw_pieces(names: Sequence[str], step: int, on_pick: Callable[[], None] | None) -> None:
    def picked() -> None:
        chosen = st.session_state[_BUTTONS]
        if chosen is not None:  # a second click on the same piece leaves it
            st.session_state[WRITTEN] = chosen + 1
            _chosen(on_pick)

    st.session_state[_BUTTONS] = step
    if len(names) > MOST_BUTTONS:
        st.selectbox(
            "Written",
            range(len(names)),
            format_func=lambda n: f"{n + 1} {names[n]}",
            key=_BUTTONS,
            on_change=picked,
            label_visibility="collapsed",
        )
        return
    labels = make_unique([as_markdown(name) for name in names])
    st.pills(
        "Written",
        range(len(names)),
        format_func=labels.__getitem__,
        key=_BUTTONS,
        on_change=picked,
        label_visibility="collapsed",
    )


def choices_of(translator: Translator, trace: AttentionTrace) -> list[tuple[Choice, ...]]:
    """At each step the written piece and the most probable others."""
    return memo_per_trace(
        trace,
        ("alternatives", OTHERS),
        lambda: alternatives(translator.model, translator.target_tokenizer, trace, OTHERS),
    )


def least_certain_step(choices: Sequence[Sequence[Choice]]) -> int:
    """The step at which the best other piece comes nearest to the written one."""
    tiny = 1e-30  # of what rounds to 0, too, there is a logarithm
    ahead = [
        math.log(max(step[0].probability, tiny) / max(step[1].probability, tiny))
        for step in choices
    ]
    return int(np.argmin(ahead))


def make_unique(labels: Sequence[str]) -> list[str]:
    """Append invisible characters so that equal labels differ.

    Streamlit tells the choices of a widget apart by their labels alone.
    """
    return [
        label + "\u2060" * labels[:place].count(label)  # WORD JOINER
        for place, label in enumerate(labels)
    ]
