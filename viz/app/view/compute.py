"""The way from a view to a number, cached for all users and listed under the view."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import streamlit as st

from viz.app.cache import memory
from viz.app.view.listing import Listing

P = ParamSpec("P")
T = TypeVar("T")

LISTING = "view.listing"
"""In the session, while a view is drawn: its calls."""


def compute(name: str, function: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
    """Return `function(*values, **named)`, cached; the code under the view calls the result `name`.

    The function is one that can be imported, and needs nothing but its arguments. These are plain
    values, records of them, files of `ASSETS`, the sentence bar's model, traces of it, and earlier
    results with their fields. Nobody may change the result.
    """
    listing: Listing = st.session_state[LISTING]
    call = listing.call(function, values, named)
    result = memory.memo(call.key, lambda: function(*values, **named))
    listing.add(name, call, result)
    return result


def figure(name: str, function: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
    """Return a figure that is worth copying, listed as a number is, but not cached."""
    listing: Listing = st.session_state[LISTING]
    call, result = listing.call(function, values, named), function(*values, **named)
    listing.add(name, call, result)
    return result


def list_result(
    name: str, result: T, function: Callable[P, T], /, *values: P.args, **named: P.kwargs
) -> None:
    """List the call that gives a result which has been found elsewhere, as by the search queue."""
    listing: Listing = st.session_state[LISTING]
    listing.add(name, listing.call(function, values, named), result)
