"""Searches that wait are one batch, with the results that each would have alone."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import pytest

from transformer import InputError, Translation, Translator, silence
from transformer.decoding.settings import SearchSettings
from transformer.translation.search import TextSearch
from viz.app.cache import search_queue
from viz.app.cache.search_queue import (
    MAX_RUNS,
    BusyError,
    SearchQueue,
    network,
    turn,
    without_turn,
)

TREE = SearchSettings(tree=True)
TEXTS = [
    "The dog sleeps.",
    "The old dog sleeps in the garden.",
    "A dog.",
    "The dog sings in the garden.",
    "The dog.",
]
LONG = "the garden " * 40


class Gate:
    """A `TextSearch` that notes its batches and what is stopped, and waits while it is closed."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.batches: list[list[str]] = []
        self.texts: list[str] = []
        self.stopped: list[str] = []
        self.on_step: Callable[[], None] = lambda: None
        gate = self

        class Gated(TextSearch):
            def __init__(self, loaded, sources, settings) -> None:
                texts = [source.text for source in sources]
                gate.batches.append(texts)
                gate.texts += texts
                assert gate.open.wait(60)
                super().__init__(loaded, sources, settings)

            def step(self) -> None:
                super().step()
                gate.on_step()

            def stop(self, place: int) -> None:
                gate.stopped.append(self.sources[place].text)
                super().stop(place)
                assert place not in self.unfinished

        self.search = Gated

    def has(self, queue: SearchQueue, count: int) -> bool:
        """Return whether so many have come, the first of which is held here."""
        return bool(self.texts) and len(self.texts) + waiting(queue) == count


@pytest.fixture
def gate(monkeypatch) -> Gate:
    gate = Gate()
    monkeypatch.setattr(search_queue, "TextSearch", gate.search)
    return gate


def waiting(queue: SearchQueue) -> int:
    return sum(len(lane._waiting) for lane in (queue._short, queue._long))


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


@contextmanager
def asked(queue: SearchQueue, gate: Gate, calls: list[tuple]) -> Iterator[list[Future]]:
    """Ask from a thread each, in this order, while the first one is held at the gate."""
    with ThreadPoolExecutor(len(calls)) as threads:
        try:
            futures = []
            for count, call in enumerate(calls):
                futures.append(threads.submit(queue.search, *call))
                # the first must not wait when the second comes
                until(partial(gate.has, queue, count + 1))
            yield futures
        finally:
            gate.open.set()


def test_those_that_wait_are_one_batch_and_each_gets_its_own(translator: Translator, gate) -> None:
    calls = [(translator, text, TREE) for text in TEXTS]
    queue = SearchQueue()
    with asked(queue, gate, calls) as futures, ThreadPoolExecutor(1) as threads:
        assert gate.batches == [TEXTS[:1]]
        threads.submit(queue.search, translator, LONG, TREE)
        until(lambda: gate.batches == [TEXTS[:1], [LONG]])  # in a lane of its own
        gate.open.set()
        translations = [future.result() for future in futures]
    assert gate.batches == [TEXTS[:1], [LONG], TEXTS[1:]]
    for text, translation in zip(TEXTS, translations, strict=True):
        alone = translator.translate(text, tree=True)
        assert (translation.source, translation.text) == (text, alone.text)
        assert translation.log_prob == pytest.approx(alone.log_prob, abs=1e-4)
        nodes, expected = (
            [(node.piece, node.state, node.reason) for node in result.tree.nodes]  # type: ignore[union-attr]
            for result in (translation, alone)
        )
        assert nodes == expected


def test_a_batch_has_one_model_one_setting_and_no_hook(translator: Translator, gate) -> None:
    hooked = {"decoder.layers.0.cross_attention.hook_z": silence(head=0)}
    queue, other = SearchQueue(), Translator.load(translator.folder)

    def search(*call) -> Translation:
        if call[1] != TEXTS[4]:
            return SearchQueue.search(queue, *call)
        with translator.model.hooks(hooked):
            return SearchQueue.search(queue, *call)

    queue.search = search  # type: ignore[assignment, method-assign]
    calls = [
        (translator, TEXTS[0], TREE),
        (translator, TEXTS[0], TREE),
        (translator, TEXTS[1], SearchSettings(beam_size=2)),
        (translator, TEXTS[2], SearchSettings(tree=True, forbidden=("Hund",))),
        (translator, TEXTS[4], TREE),
        (other, TEXTS[3], TREE),
        (translator, TEXTS[3], TREE),
    ]
    with asked(queue, gate, calls) as futures:
        gate.open.set()
        translations = [future.result() for future in futures]
    assert gate.batches == [
        [TEXTS[0]], [TEXTS[0], TEXTS[3]], [TEXTS[1]], [TEXTS[2]], [TEXTS[4]], [TEXTS[3]],
    ]  # fmt: skip
    with translator.model.hooks(hooked):
        assert translations[4].log_prob == pytest.approx(translator.translate(TEXTS[4]).log_prob)
    assert translations[4].log_prob != pytest.approx(translator.translate(TEXTS[4]).log_prob)


def test_a_reader_who_leaves_ends_the_search_and_no_other(translator, gate, monkeypatch) -> None:
    class Left(BaseException): ...

    leaving = threading.Event()

    def end() -> None:
        if leaving.is_set() and threading.current_thread().name == "leaver":
            raise Left

    def leave() -> None:
        with pytest.raises(Left):
            queue.search(translator, LONG, TREE)

    def leave_in_second() -> None:
        if len(gate.batches) == 2:  # of the long one and another
            leaving.set()
            leaver.join(20)

    monkeypatch.setattr(search_queue, "end_if_unwanted", end)
    monkeypatch.setattr(search_queue, "SHORT", 1_000)
    queue, leaver = SearchQueue(), threading.Thread(target=leave, name="leaver")
    with asked(queue, gate, [(translator, TEXTS[0], TREE)]) as futures:
        leaver.start()
        until(lambda: waiting(queue) == 1)
        with ThreadPoolExecutor(1) as threads:
            futures.append(threads.submit(queue.search, translator, TEXTS[1], TREE))
            until(lambda: waiting(queue) == 2)
            gate.on_step = leave_in_second
            gate.open.set()
            texts = [future.result().text for future in futures]
    assert not leaver.is_alive()
    assert texts == [translator.translate(text).text for text in TEXTS[:2]]
    assert gate.stopped == [LONG]


def test_one_client_has_half_of_the_queue(translator: Translator, gate, monkeypatch) -> None:
    monkeypatch.setattr(search_queue, "MAX_WAITING", 4)
    queue = SearchQueue()
    with asked(queue, gate, [(translator, text, TREE) for text in TEXTS[:3]]):
        with pytest.raises(BusyError, match=r"^2 sentences wait"):
            queue.search(translator, TEXTS[3], TREE)
        assert waiting(queue) == 2
        monkeypatch.setattr(search_queue, "current_client", lambda: "other")
        with ThreadPoolExecutor(1) as threads:
            other = threads.submit(queue.search, translator, TEXTS[3], TREE)
            until(lambda: waiting(queue) == 3)
            gate.open.set()
            assert other.result().text == translator.translate(TEXTS[3]).text


def test_an_error_of_one_is_that_of_its_reader_alone(translator, gate, monkeypatch) -> None:
    class Broken(gate.search):
        def __init__(self, loaded, sources, settings) -> None:
            super().__init__(loaded, sources, settings)
            if TEXTS[2] in [source.text for source in sources]:
                raise InputError("this one")

    monkeypatch.setattr(search_queue, "TextSearch", Broken)
    with asked(SearchQueue(), gate, [(translator, text, TREE) for text in TEXTS]) as futures:
        gate.open.set()
        for text, future in zip(TEXTS, futures, strict=True):
            if text == TEXTS[2]:
                with pytest.raises(InputError, match="this one"):
                    future.result()
            else:
                assert future.result().text == translator.translate(text).text


def test_who_waits_sees_the_place_and_then_what_is_found(translator, gate, monkeypatch) -> None:
    class Watcher:
        def __init__(self) -> None:
            self.places: list[int] = []
            self.parts: list[str] = []

        def write_place(self, place: int) -> None:
            self.places.append(place)
            gate.open.set()

        def write_part(self, part) -> None:
            self.parts.append(part.tentative)

    monkeypatch.setattr(search_queue, "CALM", 0.0)
    monkeypatch.setattr(search_queue, "PAUSE", 0.001)
    gate.on_step = lambda: threading.Event().wait(0.01)
    watcher = Watcher()
    calls = [
        (translator, TEXTS[0], SearchSettings(beam_size=2)),
        (translator, TEXTS[1], SearchSettings(beam_size=2)),
        (translator, TEXTS[2], TREE, watcher),
    ]
    with asked(SearchQueue(), gate, calls) as futures:
        text = futures[2].result().text
    assert watcher.places[0] == 2
    assert watcher.parts
    assert text.startswith(watcher.parts[-1].split()[0])


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


def test_a_run_that_waits_leaves_its_turn_to_another_and_never_waits_for_one(monkeypatch) -> None:
    monkeypatch.setattr(search_queue, "current_client", lambda: "school")
    ready, go_on = threading.Event(), threading.Event()
    waiting, running = threading.Semaphore(0), threading.Semaphore(0)

    def waits(fails: bool) -> None:
        with turn(), without_turn():
            waiting.release()
            assert ready.wait(20)
            if fails:
                raise ConnectionError  # the user has left

    def runs() -> None:
        with turn():
            running.release()
            assert go_on.wait(20)

    with ThreadPoolExecutor(40) as threads:
        first = [threads.submit(waits, fails) for fails in (False, True) * MAX_RUNS]
        assert all(waiting.acquire(timeout=20) for _ in first)
        others = [threads.submit(runs) for _ in range(MAX_RUNS)]
        assert all(running.acquire(timeout=20) for _ in others)
        ready.set()  # while others have all turns: they may wait for what these runs hold
        errors = [future.exception(2) for future in first]
        assert [*map(type, errors)] == [type(None), ConnectionError] * MAX_RUNS
        late = threads.submit(runs)
        assert not running.acquire(timeout=0.2)
        go_on.set()
        for future in [*others, late]:
            future.result(20)
    assert not search_queue._free_turns()


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        *(("::1", ""), (None, ""), ("testclient", "")),
    ],
)
def test_a_client_is_an_address_or_its_network(address: str | None, name: str) -> None:
    assert network(address) == name
