"""Searches and runs are counted, whatever ends them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from viz.app.cache.memory import forget_server_wide
from viz.app.cache.metrics import counted_search, metrics, timed_run


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    forget_server_wide()
    yield
    forget_server_wide()


def value(name: str, **labels: str) -> float:
    return metrics().registry.get_sample_value(name, labels) or 0


def under_way() -> tuple[float, float]:
    waiting, running = (
        value("headlight_searches", state=state) for state in ("waiting", "running")
    )
    return waiting, running


def test_a_search_waits_then_runs_then_is_over() -> None:
    with counted_search() as start:
        assert under_way() == (1, 0)
        start()
        assert under_way() == (0, 1)
    assert under_way() == (0, 0)
    assert value("headlight_search_seconds_count") == 1
    assert value("headlight_search_waiting_seconds_count") == 1
    with pytest.raises(AssertionError), counted_search() as start:
        assert start()
    assert value("headlight_search_seconds_count") == 2
    with pytest.raises(KeyError), counted_search():  # refused before it ran
        raise KeyError
    assert under_way() == (0, 0)
    assert value("headlight_search_seconds_count") == 2


def test_a_run_is_counted_by_its_page() -> None:
    with timed_run("heads"):
        pass
    with pytest.raises(KeyError), timed_run("masks"):
        raise KeyError
    counts = [value("headlight_run_seconds_count", page=page) for page in ("heads", "masks", "x")]
    assert counts == [1, 1, 0]
