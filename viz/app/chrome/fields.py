"""Fields that several pages draw in the same way, each bound to the URL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.app.links.address import MAX_CHARACTERS, clamp_number, say_if_cut

T = TypeVar("T", bound=str)


def choose_one(
    label: str,
    options: Iterable[T],
    key: str,
    *,
    default: T | None = None,
    labelled: bool = False,
    disabled: bool = False,
) -> T:
    """Draw a choice of which exactly one is taken, such as that among the views of a page.

    Args:
        label: for screen readers, and above the choice where it is `labelled`.
        options: as the screen and the URL name them.
        key: name in the URL.
        default: taken at first, and where the URL names none of them; the first unless given.
        disabled: whether it is shown and cannot be changed.
    """
    names = list(options)
    first = names[0] if default is None else default
    chosen = st.segmented_control(
        label,
        names,
        default=first,
        required=True,
        key=key,
        bind="query-params",
        disabled=disabled,
        label_visibility="visible" if labelled else "collapsed",
    )
    return chosen or first


def whole_number(
    label: str, key: str, least: int, most: int, default: int, *, step: int = 1, width: int = 160
) -> int:
    """Draw the field of a whole number.

    Args:
        key: name in the URL.
        width: in CSS pixels.
    """
    number = st.number_input(
        label, least, most, default, step, key=key, bind="query-params", width=width
    )
    return int(number)


def text_field(
    label: str,
    default: str = "",
    *,
    key: str,
    placeholder: str | None = None,
    width: int | None = None,
) -> str:
    """Draw the field of a text that is followed as it is typed, and say where a link had more.

    Args:
        key: name in the URL.
        width: in CSS pixels; None for all there is.
    """
    text = st.text_input(
        label,
        default,
        key=key,
        bind="query-params",
        max_chars=MAX_CHARACTERS,
        live="250ms",
        autocomplete="off",
        placeholder=placeholder,
        width=width or "stretch",
    )
    say_if_cut(key, text or "")
    return text or ""


def clamp_state(key: str, most: int, default: int = 1) -> None:
    """Bring a number that counts from 1 into its range before its field is drawn.

    A link, or the sentence before, may have had a larger one.
    """
    if key not in st.session_state:
        clamp_number(key, most)
    st.session_state[key] = min(max(st.session_state.get(key, default), 1), most)


def controls_row(key: str | None = None) -> DeltaGenerator:
    """Return a container for controls side by side, aligned at the bottom."""
    return st.container(key=key, horizontal=True, vertical_alignment="bottom", gap="small")
