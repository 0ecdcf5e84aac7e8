"""Layer and head as two small menus whose choice stands in the URL."""

from __future__ import annotations

import streamlit as st

MEAN = "mean"
LAYER, HEAD = "layer", "head"
"""Names in the URL; layers and heads count from 1 there, as on the screen."""

_PAGE = "head_picker.page"


def pick(
    page: str, layers: int, heads: int, *, layer: int, head: int | None = None, mean: bool = False
) -> tuple[int, int | None]:
    """Draw the two menus, and remember their choice for when this page is opened again.

    Args:
        page: whose choice it is.
        layers: how many layers there are.
        heads: how many heads each layer has.
        layer: chosen at first, from 0. A link without a layer means this one.
        head: chosen at first, from 0; None for the mean. A link without a head means this one.
        mean: whether the mean over the heads of a layer can be chosen.

    Returns:
        Layer and head, from 0; None for the mean over heads.
    """
    layer_names = [str(n + 1) for n in range(layers)]
    head_names = [*([MEAN] if mean else []), *(str(n + 1) for n in range(heads))]
    first = _name(layer), _name(head)
    if st.session_state.get(_PAGE) != page:
        # the other pages use the same two names in the URL: put this page's choice back
        st.session_state[_PAGE] = page
        if remembered := st.session_state.get(_key(page)):
            _put(*remembered, layer_names, head_names)
    chosen_layer = st.selectbox(
        "Layer",
        layer_names,
        index=layer_names.index(first[0]),
        key=LAYER,
        bind="query-params",
        width=96,
    )
    chosen_head = st.selectbox(
        "Head",
        head_names,
        index=head_names.index(first[1]),
        key=HEAD,
        bind="query-params",
        width=96,
    )
    st.session_state[_key(page)] = chosen_layer, chosen_head
    return int(chosen_layer) - 1, None if chosen_head == MEAN else int(chosen_head) - 1


def choose(page: str, layer: int, head: int) -> None:
    """Take a choice that was made elsewhere, such as in a grid, and draw the page again."""
    st.session_state[_key(page)] = _name(layer), _name(head)
    st.session_state[_PAGE] = None
    st.rerun()


def _put(layer: str, head: str, layer_names: list[str], head_names: list[str]) -> None:
    # a model with fewer layers may have been loaded since
    if layer in layer_names and head in head_names:
        st.session_state[LAYER], st.session_state[HEAD] = layer, head


def _name(index: int | None) -> str:
    return MEAN if index is None else str(index + 1)


def _key(page: str) -> str:
    return f"head_picker.{page}"
