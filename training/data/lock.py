"""One process at a time writes into a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from transformer.errors import HeadlightError


@contextmanager
def locked(path: Path, refusal: HeadlightError) -> Iterator[None]:
    """Hold a lock file, which the system frees when this process ends; a context manager.

    Args:
        path: the lock file, which is removed in the end.
        refusal: the error to raise if another process holds it.

    Raises:
        HeadlightError: the refusal.
        OSError: if the file cannot be written.
    """
    lock = FileLock(path, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise refusal from None
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps a file that is open
            if path.stat().st_size == 0:  # a file with content is not ours
                path.unlink()  # while it is held, or another process could hold it by then
        lock.release()
