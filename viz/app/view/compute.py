"""The way from a view to a number, cached for all users and listed under the view."""

from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar

import streamlit as st

from transformer import Translator
from viz.app import jobs
from viz.app.cache import memory
from viz.app.sentence import sentence_bar
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


def cached(function: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
    """Return what `compute` does, without a line in the code."""
    key = Listing().call(function, values, named).key
    return memory.memo(key, lambda: function(*values, **named))


class Job(NamedTuple):
    """Work that may take long."""

    title: str  # on the screen
    at_once: int = 0  # subwords of a sentence up to which the run itself does it


def compute_in_job(
    name: str, job: Job, function: Callable[P, T], /, *values: P.args, **named: P.kwargs
) -> T:
    """Do as `compute`, in the background; the model loads once it is the job's turn."""
    listing: Listing = st.session_state[LISTING]
    call = listing.call(function, values, named)
    bar = sentence_bar.drawn_from()
    given = [_chosen(value, bar.translator) for value in values]
    work = lambda chosen, _: function(*(value(chosen) for value in given), **named)  # noqa: E731
    key = function.__qualname__, call.key
    result: T = jobs.computed(bar.translator, bar.trace, key, job.title, work, at_once=job.at_once)
    listing.add(name, call, result)
    return result


def _chosen(value: Any, translator: Translator) -> Callable[[Translator], Any]:
    """Take a value from the model that the job loads: one that waits holds no model."""
    if value is translator:
        return lambda chosen: chosen
    if value is translator.model:
        return lambda chosen: chosen.model
    return lambda _: value


def part(name: str, values: Any, index: Any) -> Any:
    """Return `values[index]`, listed as a number is."""
    listing: Listing = st.session_state[LISTING]
    listing.add(name, listing.part(values, index), result := values[index])
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
