"""Queue of the searches of all users: waiting searches run together, as one batch.

A step of a search reads every weight of the decoder, for one sentence or for sixteen. An idle
server searches a sentence at once and alone; sentences that come meanwhile are the next batch.

Clients are known by their addresses, and no client takes all places. A class may share an address:
its members wait for each other, and few requests are refused.
"""

import ipaddress
import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from threading import Lock, Semaphore
from typing import Protocol
from weakref import WeakValueDictionary

from transformer import HeadlightError, Translation, Translator
from transformer.decoding.settings import SearchSettings
from transformer.translation.result import Partial
from transformer.translation.search import Source, TextSearch
from viz.app.cache.lane import FullError, Lane
from viz.app.cache.memory import server_wide
from viz.app.log import log_refusal
from viz.app.streamlit_internals import client_address, end_if_unwanted

MAX_RUNS = 8  # largest number of simultaneous runs of pages of one client; its further runs wait

PATIENCE = 1.0  # seconds until a run that waits asks whether it is still wanted


def network(address: str | None) -> str:
    """Return the key of a client: its address, or its IPv6 network (/64); "" for this machine."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return ""
    if parsed.is_loopback:
        return ""
    return str(parsed if parsed.version == 4 else ipaddress.ip_network((parsed, 64), strict=False))


def current_client() -> str:
    """Return the client of the run that calls."""
    return network(client_address())


@contextmanager
def turn() -> Iterator[None]:
    """Wait until the client of this run has fewer than `MAX_RUNS`. A context manager."""
    with _lock:
        free = _free_turns().setdefault(current_client(), Semaphore(MAX_RUNS))
    while not free.acquire(timeout=PATIENCE):
        end_if_unwanted()
    token = _turns.set(held := [free])
    try:
        yield
    finally:
        _turns.reset(token)
        for own in held:
            own.release()


_turns: ContextVar[list[Semaphore]] = ContextVar("turns")  # of this run: one, or none as it waits


@contextmanager
def without_turn() -> Iterator[None]:
    """Give the turn away while this run waits for a result. A context manager.

    It goes on even if all turns are taken by then: it may hold what the others wait for.
    """
    held = _turns.get([])
    given = [held.pop() for _ in held[:]]
    for own in given:
        own.release()
    try:
        yield
    finally:
        held += [own for own in given if own.acquire(blocking=False)]


@server_wide
def _free_turns() -> WeakValueDictionary[str, Semaphore]:
    """Return the turns that each client has left, as long as one is taken."""
    return WeakValueDictionary()


_lock = Lock()


SECONDS = 8.0
"""Processor time that a search may take: far beyond what a paragraph needs, so that it ends only
what would keep others waiting, such as hundreds of pieces of nonsense with a wide beam."""

SHORT = 64  # pieces of the longest source that is searched beside others
NARROW = 8  # the widest beam that is searched beside others

TOGETHER = 16  # sentences of a batch, at most: more of them save little, and each waits for all

SLOW_SECONDS = 4.0  # seconds of a search beyond which the log has a line on it

MAX_WAITING, MAX_LONG = 256, 8
"""Largest numbers of waiting searches and of long ones; further users are asked to try again."""

CALM, PAUSE = 0.15, 0.05
"""Seconds until a waiting user hears of the search, and between one time and the next: what is
found by then comes at once, without a flicker."""


_LOG = logging.getLogger(__name__)


class BusyError(HeadlightError):
    """More searches wait than the server can do in a reasonable time."""


class Watcher(Protocol):
    """Display of a search that waits or runs."""

    def write_place(self, place: int) -> None:
        """Show the place in the queue, from 1."""

    def write_part(self, part: Partial) -> None:
        """Show what the search has so far."""


@dataclass(eq=False)
class _Request:
    """Search that a user waits for, in the `context` of the user's run, with its hooks."""

    translator: Translator
    source: Source
    settings: SearchSettings
    is_watched: bool  # whether parts are wanted
    client: str  # see `network`
    context: Context = field(default_factory=copy_context)
    asked: float = field(default_factory=time.monotonic)  # seconds by the clock, as `began`
    began: float = 0.0
    next_part: float = 0.0
    part: Partial | None = None  # result so far, until it is taken
    result: Future[Translation] = field(default_factory=Future)  # cancelled as the user leaves
    group: object = None  # key of the searches that may share a batch

    def __post_init__(self) -> None:
        self.next_part = self.asked + CALM
        is_hooked = self.translator.model.silenced() != {}
        alone = bool(self.settings.constrained) or is_hooked
        self.group = self if alone else (id(self.translator), self.settings)

    def is_unwanted(self) -> bool:
        return self.result.cancelled()

    def finish(self, translation: Translation) -> None:
        seconds = time.monotonic() - self.began
        if seconds > SLOW_SECONDS:
            _LOG.warning("search slow: %.1f s, waited %.1f s", seconds, self.began - self.asked)
        with suppress(InvalidStateError):  # the user has left
            self.result.set_result(translation)


def _batch(waiting: Sequence[_Request]) -> Sequence[_Request]:
    return [other for other in waiting if other.group == waiting[0].group][:TOGETHER]


def _search(batch: Sequence[_Request]) -> None:
    """Search for all sentences of a batch; stop one when its user leaves or its budget ends."""
    first, now = batch[0], time.monotonic()
    for request in batch:
        request.began = now
    end = time.thread_time() + SECONDS
    try:
        search = first.context.run(
            TextSearch, first.translator, [request.source for request in batch], first.settings
        )
        while unfinished := search.unfinished:
            search.step()
            is_over = time.thread_time() > end
            for place in unfinished:
                request = batch[place]
                if place in search.unfinished and (is_over or request.result.cancelled()):
                    search.stop(place)
                if place not in search.unfinished:
                    request.finish(first.context.run(search.translation, place))
                elif request.is_watched and time.monotonic() >= request.next_part:
                    request.next_part = time.monotonic() + PAUSE
                    request.part = search.part(place)
    except Exception as error:  # noqa: BLE001  whatever it is, the user's run raises it
        if len(batch) == 1:
            with suppress(InvalidStateError):
                first.result.set_exception(error)
            return
        for request in batch:  # it is of one sentence, and must not end the others
            if not request.result.done():
                _search([request])


class SearchQueue:
    """The searches of all users, in two lanes, so that a paragraph keeps no sentence waiting."""

    def __init__(self) -> None:
        self._short = Lane("search", _search, MAX_WAITING, batch=_batch)
        self._long = Lane("search", _search, MAX_LONG)

    def search(
        self,
        translator: Translator,
        text: str,
        settings: SearchSettings,
        watcher: Watcher | None = None,
    ) -> Translation:
        """Search for a translation in a thread of the queue; the user's run waits for it."""
        source = Source(text, translator.reader.text(text))
        is_short = len(source.pieces) <= SHORT and settings.beam_size <= NARROW
        lane = self._short if is_short else self._long
        request = _Request(translator, source, settings, watcher is not None, current_client())
        try:
            lane.add(request)
        except FullError as full:
            log_refusal("too many searches")
            raise BusyError(
                f"{full.count} sentences wait for this server already: try again in a moment."
            ) from None
        try:
            with without_turn():
                while not wait([request.result], PAUSE).done:
                    end_if_unwanted()
                    if watcher is not None and time.monotonic() >= request.asked + CALM:
                        part, request.part = request.part, None
                        if part is not None:
                            watcher.write_part(part)
                        elif place := lane.place(request):
                            watcher.write_place(place)
        finally:
            request.result.cancel()  # of who leaves; it has ended for all others
        return request.result.result()


@server_wide
def search_queue() -> SearchQueue:
    """Return the searches of this server."""
    return SearchQueue()
