"""Cache of the server, shared by all runs of its pages and bounded in bytes.

What is computed for one user's sentence serves everybody. Models are not in it: the person who
starts the server names their folders.
"""

import ctypes
import sys
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast
from weakref import ref

import numpy as np
from cachetools import LRUCache, cached

from transformer import AttentionTrace
from viz.app.streamlit_internals import end_if_unwanted

T = TypeVar("T")

LIMIT = 512 * 2**20
"""Bytes of all that is remembered; a trace of 512 × 512 pieces has 25 MB for each layer of eight
heads, one of 20 × 20 has 0.04 MB."""

PATIENCE = 0.2
"""Seconds until a run that waits for another's result asks whether it is still wanted itself."""


class ByteCache:
    """Cache of the last results, bounded in bytes, for many threads; each is computed once."""

    def __init__(self, limit: int) -> None:
        self._entries: LRUCache[Hashable, tuple[Any, int]] = LRUCache(limit, lambda entry: entry[1])
        self._lock = Lock()
        self._computing: dict[Hashable, Lock] = {}

    @property
    def size(self) -> int:
        """Bytes that are in use."""
        return int(self._entries.currsize)

    @property
    def limit(self) -> int:
        """Bytes that may be in use."""
        return int(self._entries.maxsize)

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the result that is cached under a key, or else `compute()`, unless it raises."""
        with self._lock:
            if key in self._entries:
                return cast(T, self._entries[key][0])
            computing = self._computing.setdefault(key, Lock())
        while not computing.acquire(timeout=PATIENCE):
            end_if_unwanted()
        try:
            with self._lock:
                if key in self._entries:  # another thread was first
                    return cast(T, self._entries[key][0])
            value = compute()
            size = size_of((key, value))
            with self._lock:
                if size <= self.limit:
                    self._entries[key] = value, size
            return value
        finally:
            with self._lock:
                self._computing.pop(key, None)
            computing.release()

    def recall(self, key: Hashable) -> Any:
        """Return the result that is cached under a key, or None."""
        with self._lock:
            return self._entries[key][0] if key in self._entries else None


_PLAIN, _ROWS = (str, bytes, int, float), (tuple, list, set, frozenset)


def size_of(value: object) -> int:
    """Return the size of a value and all its contents in bytes; a view counts as its whole array.

    A trace that a key only refers to does not count.
    """
    size, parts, counted = 0, [value], set[int]()
    while parts:
        part: Any = parts.pop()
        while isinstance(part, np.ndarray) and isinstance(part.base, np.ndarray):
            part = part.base
        if part is None or id(part) in counted:
            continue
        counted.add(id(part))
        if isinstance(part, np.ndarray):
            size += part.nbytes
            continue
        size += sys.getsizeof(part)
        if isinstance(part, _PLAIN):  # most parts, and abstract types take ten times as long
            continue
        if isinstance(part, _ROWS):
            parts += part
        elif isinstance(part, Mapping):
            parts += [*part.keys(), *part.values()]
        else:
            parts.append(getattr(part, "__dict__", None))
    return size


def call_heap(name: str, *numbers: int) -> None:
    """Call a function of glibc's `malloc.h`, where there is one."""
    with suppress(AttributeError, OSError, TypeError):
        getattr(ctypes.CDLL(None), name)(*numbers)


_server_wide: dict[Hashable, Any] = {}
_server_wide_lock = Lock()


def server_wide(make: Callable[[], T]) -> Callable[[], T]:
    """Decorate a function whose first result serves all users: no browser can empty it."""
    return cached(_server_wide, key=lambda: make, lock=_server_wide_lock)(make)


def forget_server_wide() -> None:
    """Forget every result of a `server_wide` function."""
    with _server_wide_lock:
        _server_wide.clear()


@server_wide
def shared_cache() -> ByteCache:
    """Return the one cache of this server."""
    return ByteCache(LIMIT)


def memo(key: Hashable, compute: Callable[[], T]) -> T:
    """Return `compute()`, cached for all users; nobody may change the result.

    The key names all that the result depends on, a file by its `state_of_file`.
    """
    return shared_cache().get(key, compute)


def recall(key: Hashable) -> Any:
    """Return the result that `memo` has under a key, or None where it has none any more."""
    return shared_cache().recall(key)


def memo_per_trace(trace: AttentionTrace, name: Hashable, compute: Callable[[], T]) -> T:
    """Return `compute()`, cached by a trace, which is not kept alive, and a name; see `memo`."""
    return memo((ref(trace), name), compute)


def state_of_file(path: Path) -> tuple[int, int] | None:
    """Return a value that changes when a file is written anew; None if the file is absent."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
