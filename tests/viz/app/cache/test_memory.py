"""Remembered values never take more bytes than they may, and belong to their keys alone."""

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import streamlit as st

from tests.made_trace import made_trace
from viz.app.cache import memory
from viz.app.cache.memory import (
    ByteCache,
    forget_server_wide,
    memo_per_trace,
    shared_cache,
    size_of,
)
from viz.draw import open_head

KIB = 2**10


@pytest.fixture(autouse=True)
def empty():
    forget_server_wide()


def block(kib: int) -> np.ndarray:
    return np.zeros(kib * KIB, np.uint8)


def test_it_fills_up_to_its_limit_and_forgets_what_was_used_longest_ago() -> None:
    cache = ByteCache(100 * KIB)
    for n in range(50):
        cache.get(n, lambda: block(10))
        cache.get(0, lambda: pytest.fail("the first is in use all the time"))
        assert cache.size <= cache.limit
    assert cache.size > 80 * KIB  # nine of them, with their keys
    assert cache.get("too large", lambda: block(200)).nbytes == 200 * KIB
    computed: list[int] = []
    for n in (0, 49, 1):
        cache.get(n, partial(computed.append, n))
    assert computed == [1]


def test_an_array_counts_with_the_whole_that_it_is_cut_from_and_once() -> None:
    whole = block(100)
    for value in (whole[:5], whole.reshape(4, -1)[1], [whole, whole[:1]], {"a": (whole, whole)}):
        assert 100 * KIB <= size_of(value) < 101 * KIB


def test_many_at_once_compute_it_once() -> None:
    cache, ready = ByteCache(KIB), threading.Barrier(8)
    computed: list[str] = []

    def compute() -> str:
        time.sleep(0.05)  # long enough for the others to ask
        computed.append("value")
        return computed[-1]

    with pytest.raises(ZeroDivisionError):  # what fails is tried again
        cache.get("key", lambda: str(1 / 0))

    def ask(_: int) -> str:
        ready.wait()
        return cache.get("key", compute)

    with ThreadPoolExecutor(8) as people:
        assert set(people.map(ask, range(8))) == {"value"}
    assert len(computed) == 1


def test_a_result_belongs_to_its_trace() -> None:
    first, second = made_trace(3, 1, 1, 0), made_trace(3, 1, 1, 1)
    assert memo_per_trace(first, "a", lambda: "a of first") == "a of first"
    assert memo_per_trace(second, "a", lambda: "a of second") == "a of second"
    assert memo_per_trace(first, "a", lambda: "again") == "a of first"
    assert memo_per_trace(first, "b", lambda: "b of first") == "b of first"
    gone = weakref.ref(first)  # it is not kept alive by what was computed from it
    del first
    gc.collect()
    assert gone() is None


def test_the_server_has_one_cache_with_one_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LIMIT", 50 * KIB)
    cache = shared_cache()
    traces = [made_trace(3, 1, 1, n) for n in range(3)]
    for trace in traces:
        for n in range(10):
            memo_per_trace(trace, n, lambda: block(4))
    # as a browser with the key C, or with a forged message, would empty what Streamlit keeps
    st.cache_resource.clear()
    st.cache_data.clear()
    assert shared_cache() is cache
    assert 40 * KIB < cache.size <= cache.limit == 50 * KIB


def test_two_people_share_what_a_page_computes_and_no_session_holds_weights(
    serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []
    compute = open_head.heads_of_kind

    def count(trace, kind, **options):
        computed.append(kind)
        return compute(trace, kind, **options)

    monkeypatch.setattr(open_head, "heads_of_kind", count)
    people = [serve("heads", text="The dog sleeps.", words="true") for _ in range(2)]
    assert not any(person.exception for person in people)
    assert sorted(computed) == ["cross", "decoder_self", "encoder_self"]
    for person in people:
        assert size_of(person.session_state._state.filtered_state) < 50 * KIB
