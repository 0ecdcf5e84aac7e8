"""Clients take turns: what one asks for at once keeps nobody else waiting."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from viz.app.cache import search_queue
from viz.app.cache.search_queue import MAX_RUNS, network, turn


def test_one_client_has_some_runs_at_once_and_another_begins_its_own(monkeypatch) -> None:
    client = threading.local()
    monkeypatch.setattr(search_queue, "current_client", lambda: client.name)
    go_on, lock, running = threading.Event(), threading.Lock(), []

    def run(name: str) -> None:
        client.name = name
        with turn():
            with lock:
                running.append(name)
            assert go_on.wait(20)

    with ThreadPoolExecutor(40) as threads:
        try:
            crowd = [threads.submit(run, "crowd") for _ in range(30)]
            other = threads.submit(run, "other")
            while "other" not in running or len(running) < MAX_RUNS + 1:
                assert not other.done()
                time.sleep(0.01)
            assert sorted(running) == ["crowd"] * MAX_RUNS + ["other"]
        finally:
            go_on.set()
        for future in [*crowd, other]:
            future.result(20)
    assert len(running) == 31
    assert not search_queue._free_turns()


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        *(("127.0.0.1", ""), ("::1", ""), (None, ""), ("testclient", ""), ("", "")),
    ],
)
def test_a_client_is_an_address_or_its_network(address: str | None, name: str) -> None:
    assert network(address) == name
