"""Layer and head as two small menus whose choice stands in the URL."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

MEAN = "mean"


class Names(NamedTuple):
    """What a choice is called in the URL; pages that share the names share the choice."""

    layer: str
    head: str


HEAD = Names("layer", "head")
"""One head, wherever one is looked at."""

_CLICKED = "head_picker.clicked"


def pick(
    names: Names,
    layers: int,
    heads: int,
    *,
    layer: int,
    head: int | None = None,
    mean: bool = False,
) -> tuple[int, int | None]:
    """Draw the two menus; both count from 1, on the screen and in the URL.

    Args:
        names: under which the choice is kept.
        layers: how many layers there are.
        heads: how many heads each layer has.
        layer: chosen at first, from 0. A link that names no layer means this one.
        head: chosen at first, from 0; None for the mean. A link that names no head means this one.
        mean: whether the mean over the heads of a layer can be chosen.

    Returns:
        Layer and head, from 0; None for the mean over heads.
    """
    layer_names = [str(n + 1) for n in range(layers)]
    head_names = [*([MEAN] if mean else []), *(str(n + 1) for n in range(heads))]
    # a menu can be set only before it is drawn, and a grid below it says later what was clicked
    for name, value in st.session_state.pop(_CLICKED, {}).items():
        st.session_state[name] = value
    chosen_layer = st.selectbox(
        "Layer",
        layer_names,
        index=layer_names.index(_name(layer)),
        key=names.layer,
        bind="query-params",
        width=96,
    )
    chosen_head = st.selectbox(
        "Head",
        head_names,
        index=head_names.index(_name(head)),
        key=names.head,
        bind="query-params",
        width=96,
    )
    return int(chosen_layer) - 1, None if chosen_head == MEAN else int(chosen_head) - 1


def choose(names: Names, layer: int, head: int) -> None:
    """Take a choice that was made in a grid, and draw the page again."""
    st.session_state[_CLICKED] = {names.layer: _name(layer), names.head: _name(head)}
    st.rerun()


def _name(index: int | None) -> str:
    return MEAN if index is None else str(index + 1)
