"""The way from a view to a number, cached for all users and listed under the view."""

import inspect
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, ParamSpec, TypeVar

import streamlit as st

from transformer import AttentionTrace, Translator
from viz.app import jobs
from viz.app.cache import cached_results, memory
from viz.app.jobs import Offer
from viz.app.view.listing import Listing, Written

P = ParamSpec("P")
T = TypeVar("T")

LISTING = "view.listing"
"""In the session, while a view is drawn: its calls."""


class NothingToDrawError(Exception):
    """End of a view that has said what it lacks."""


def compute(name: str, function: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
    """Return `function(*values, **named)`, cached; the code under the view calls the result `name`.

    The function is one that can be imported, and needs nothing but its arguments. These are plain
    values, records of them, files of `ASSETS` or of a model, the sentence bar's model, traces of
    it, and earlier results with their fields. Nobody may change the result.
    """
    call = _listing().call(function, values, named)
    result = memory.memo(call.key, lambda: function(*values, **named))
    _listing().add(name, call, result)
    return result


def cached(function: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
    """Return what `compute` does, without a line in the code."""
    listing = _listing().copy() if LISTING in st.session_state else Listing()
    key = listing.call(function, values, named).key
    return memory.memo(key, lambda: function(*values, **named))


class Job(NamedTuple):
    """Work that may take long."""

    title: str  # on the screen
    at_once: int = 0  # subwords of a sentence up to which the run itself does it


def compute_in_job(
    name: str, job: Job, function: Callable[P, T], /, *values: P.args, **named: P.kwargs
) -> T:
    """Do as `compute`, in the background; the model loads once it is the job's turn.

    A function with the argument `progress` gets one to call.
    """
    call = _listing().call(function, values, named)
    bar = _listing().bar.translation
    assert bar is not None  # else the page has said so and draws nothing
    translator = next((x for x in values if isinstance(x, Translator)), bar.translator)
    trace = next((x for x in values if isinstance(x, AttentionTrace)), bar.trace)
    key, at_once = (function.__qualname__, call.key), job.at_once
    work = _work(translator, function, values, named)
    result: T = jobs.compute_measure(translator, trace, key, job.title, work, at_once=at_once)
    _listing().add(name, call, result)
    return result


def compute_on_request(
    name: str, offer: Offer, function: Callable[..., T], /, *values: Any, **named: Any
) -> T | None:
    """Do as `compute_in_job` once the user presses a button; until then, draw it."""
    call = _listing().call(function, values, named)
    translator = _listing().bar.translator
    assert translator is not None  # likewise
    work = _work(translator, function, values, named)
    result: T | None
    if offer.known is not None:
        memory.memo(call.key, lambda: offer.known)
    if offer.label:
        result = jobs.get_or_offer(offer, call.key, translator.folder, work)
    else:
        with cached_results.progress_bar(offer.title) as report:
            result = memory.memo(call.key, lambda: work(translator, report))
    if result is not None:
        _listing().add(name, call, result)
    return result


def _work(
    translator: Translator, function: Callable[..., T], values: Any, named: dict[str, Any]
) -> Callable[[Translator, cached_results.Report], T]:
    given = [_chosen(value, translator) for value in values]
    reports = "progress" in inspect.signature(function).parameters

    def work(chosen: Translator, report: cached_results.Report) -> T:
        progress = {"progress": report} if reports else {}
        return function(*(value(chosen) for value in given), **named, **progress)

    return work


def _chosen(value: Any, translator: Translator) -> Callable[[Translator], Any]:
    """Take a value from the model that the job loads: one that waits holds no model."""
    if value is translator:
        return lambda chosen: chosen
    if value is translator.model:
        return lambda chosen: chosen.model
    return lambda _: value


def part(name: str, values: Any, index: Any) -> Any:
    """Return `values[index]`, listed as a number is."""
    _listing().add(name, _listing().part(values, index), result := values[index])
    return result


def figure(name: str, function: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
    """Return a figure that is worth copying, listed as a number is, but not cached."""
    call, result = _listing().call(function, values, named), function(*values, **named)
    _listing().add(name, call, result)
    return result


def list_result(
    name: str, result: T, function: Callable[P, T], /, *values: P.args, **named: P.kwargs
) -> None:
    """List the call that gives a result which has been found elsewhere, as by the search queue."""
    _listing().add(name, _listing().call(function, values, named), result)


def list_file(
    name: str, result: T, key: Hashable, function: Callable[..., object], /, *values: Any
) -> None:
    """List the call that reads a file of the user's, whose content is known by a key."""
    _listing().add(name, Written(_listing().call(function, values, {}).code, key), result)


def list_call(function: Callable[P, object], /, *values: P.args, **named: P.kwargs) -> None:
    """List a call that the view itself does not make, because it takes long."""
    _listing().add_call(_listing().call(function, values, named))


def name_model(name: str, offered: str, translator: Translator) -> None:
    """List another model than the sentence bar's, named as in the menu of models."""
    _listing().add_model(name, offered, translator)


def _listing() -> Listing:
    listing: Listing = st.session_state[LISTING]
    return listing
