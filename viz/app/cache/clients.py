"""Clients of the server by their addresses, with bounds so that no client takes all resources.

A class may share an address: its members wait for each other, and few requests are refused.
"""

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Semaphore
from weakref import WeakValueDictionary

from viz.app.cache.memory import server_wide
from viz.app.streamlit_internals import client_address, end_if_unwanted

MAX_RUNS = 8
"""Largest number of simultaneous runs of pages of one client; its further runs wait."""

PATIENCE = 1.0
"""Seconds until a run that waits asks whether it is still wanted."""


def network(address: str | None) -> str:
    """Return the key of a client: its address, or the network of an IPv6 address (/64).

    None, which stands for this machine, gives "".
    """
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
    try:
        yield
    finally:
        free.release()


@server_wide
def _free_turns() -> WeakValueDictionary[str, Semaphore]:
    """Return the turns that each client has left, as long as one is taken."""
    return WeakValueDictionary()


_lock = Lock()
