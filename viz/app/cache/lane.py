"""Work of all users that waits for its turn: searches, and jobs in the background."""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import torch


class Work(Protocol):
    """Work that somebody waits for."""

    client: str  # where it comes from; see `search_queue.network`

    def is_unwanted(self) -> bool:
        """Return whether nobody waits for it any more."""


W = TypeVar("W", bound=Work)


class FullError(Exception):
    """More work waits than a lane, or a client, may have."""

    def __init__(self, count: int, *, is_of_client: bool) -> None:
        self.count = count  # of what waits, or of what the client has there
        self.is_of_client = is_of_client


class Lane(Generic[W]):
    """Work in turns: no client comes twice while another waits, or has half of the places.

    Args:
        name: of its threads.
        run: does a batch, in a thread of its own.
        most: the largest number of waiting work.
        at_once: batches that run at one time.
        batch: takes a batch from what waits, in its order; by default the first alone.
    """

    def __init__(
        self,
        name: str,
        run: Callable[[Sequence[W]], None],
        most: int,
        *,
        at_once: int = 1,
        batch: Callable[[Sequence[W]], Sequence[W]] = lambda waiting: waiting[:1],
    ) -> None:
        self._name, self._run_batch = name, run
        self._most, self._at_once, self._batch = most, at_once, batch
        self._waiting: list[W] = []  # in the order in which they run
        self._running: list[Sequence[W]] = []
        self._last = ""  # the client of the work that began last
        self._lock = threading.Lock()

    def add(self, work: W) -> None:
        """Begin work or let it wait; raise `FullError` if too much waits."""
        self.sweep()
        with self._lock:
            count = len(self._waiting)
            own = sum(other.client == work.client for other in self._waiting)
            is_of_client = own >= max(self._most // 2, 1)
            if is_of_client or count >= self._most:
                raise FullError(own if is_of_client else count, is_of_client=is_of_client)
            self._waiting = self._in_turns([*self._waiting, work])
            self._advance()

    def place(self, work: W) -> int:
        """Return the place of work that waits, from 1; 0 if it does not wait."""
        with self._lock:
            return self._waiting.index(work) + 1 if work in self._waiting else 0

    def running(self) -> int:
        """Return how much work runs and is wanted."""
        with self._lock:
            return sum(not work.is_unwanted() for batch in self._running for work in batch)

    def sweep(self) -> None:
        """Drop what nobody waits for."""
        with self._lock:
            wanted = [work for work in self._waiting if not work.is_unwanted()]
            self._waiting = self._in_turns(wanted)

    def _in_turns(self, left: list[W]) -> list[W]:
        works, last = list[W](), self._last
        while left:
            work = next((work for work in left if work.client != last), left[0])
            left.remove(work)
            works.append(work)
            last = work.client
        return works

    def _advance(self) -> None:
        while len(self._running) < self._at_once and self._waiting:
            batch = self._batch(self._waiting)
            self._last = batch[-1].client
            self._waiting = self._in_turns([w for w in self._waiting if w not in batch])
            self._running.append(batch)
            name = self._name
            threading.Thread(target=self._run, args=(batch,), name=name, daemon=True).start()

    def _run(self, batch: Sequence[W]) -> None:
        torch.set_num_threads(1)  # of this thread
        try:
            self._run_batch(batch)
        finally:
            self.sweep()
            with self._lock:
                self._running.remove(batch)
                self._advance()
