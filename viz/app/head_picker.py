"""Kind, layer and head as small menus whose choice stands in the URL."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from transformer import Kind, Translator
from transformer.analysis.heads.head import Head
from viz.draw.labels import KINDS_BY_NAME, SCREEN_NAMES

KIND = "kind"
"""Name in the URL of the kind of attention, on every page that asks for one."""
MEAN = "mean"


class UrlNames(NamedTuple):
    """What a choice is called in the URL; pages that share the names share the choice."""

    layer: str
    head: str


HEAD = UrlNames("layer", "head")
"""One head, wherever one is looked at."""


def pick_kind(*, default: str = "cross", disabled: bool = False) -> Kind:
    """Draw the choice among the three kinds of attention.

    Args:
        default: what a link means that names no kind, as the screen calls it.
        disabled: whether it is shown and cannot be changed.
    """
    name = st.segmented_control(
        "Attention",
        list(KINDS_BY_NAME),
        default=default,
        required=True,
        key=KIND,
        bind="query-params",
        disabled=disabled,
        label_visibility="collapsed",
    )
    return KINDS_BY_NAME[name or default]


def pick_layer(name: str, layers: int) -> int:
    """Draw the menu of a layer alone, the first one chosen at first.

    Args:
        name: in the URL.
        layers: how many there are.

    Returns:
        The layer, from 0; the screen and the URL count from 1.
    """
    chosen = st.selectbox(
        "Layer",
        [str(n + 1) for n in range(layers)],
        key=name,
        bind="query-params",
        width=116,
    )
    return int(chosen) - 1


def pick(
    names: UrlNames,
    layers: int,
    heads: int,
    *,
    layer: int,
    head: int | None = None,
    mean: bool = False,
    mean_of_layers: bool = False,
) -> tuple[int | None, int | None]:
    """Draw the two menus; both count from 1, on the screen and in the URL.

    Args:
        names: under which the choice is kept.
        layers: how many layers there are.
        heads: how many heads each layer has.
        layer: chosen at first, from 0. A link that names no layer means this one.
        head: chosen at first, from 0; None for the mean. A link that names no head means this one.
        mean: whether the mean over the heads of a layer can be chosen.
        mean_of_layers: whether the mean over the layers can be chosen.

    Returns:
        Layer and head, from 0; None for a mean.
    """
    layer_names = [*([MEAN] if mean_of_layers else []), *(str(n + 1) for n in range(layers))]
    head_names = [*([MEAN] if mean else []), *(str(n + 1) for n in range(heads))]
    chosen_layer = st.selectbox(
        "Layer",
        layer_names,
        index=layer_names.index(_name(layer)),
        key=names.layer,
        bind="query-params",
        width=128 if mean_of_layers else 116,
    )
    chosen_head = st.selectbox(
        "Head",
        head_names,
        index=head_names.index(_name(head)),
        key=names.head,
        bind="query-params",
        width=128 if mean else 116,
    )
    return _index(chosen_layer), _index(chosen_head)


def pick_head(translator: Translator) -> Head:
    """Draw the menus of one head, no mean among them; at first it is of the last layer."""
    layers, heads = translator.model.config.N, translator.model.config.h
    kind = pick_kind()
    layer, head = pick(HEAD, layers, heads, layer=layers - 1, head=0)
    assert layer is not None  # no mean is offered
    assert head is not None
    return Head(kind, layer, head)


def open_head(place: Head) -> None:
    """Let the menus of `pick_head` follow a click."""
    st.session_state[KIND] = SCREEN_NAMES[place.kind]
    choose(HEAD, place.layer, place.head)


def choose(names: UrlNames, layer: int, head: int) -> None:
    """Set the menus to a head that was chosen elsewhere, before they are drawn again."""
    st.session_state[names.layer], st.session_state[names.head] = _name(layer), _name(head)


def in_link(kind: Kind, layer: int, head: int) -> dict[str, str]:
    """One head as a link to another page names it; layer and head count from 0."""
    return {KIND: SCREEN_NAMES[kind], HEAD.layer: _name(layer), HEAD.head: _name(head)}


def _index(name: str) -> int | None:
    return None if name == MEAN else int(name) - 1


def _name(index: int | None) -> str:
    return MEAN if index is None else str(index + 1)
