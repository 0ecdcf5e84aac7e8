"""One process at a time works on a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from training.data.lines import CorpusError


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from working on a folder, also before it is there; a context manager.

    Raises:
        CorpusError: if one does.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    path = folder.with_name(folder.name + ".lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # the process that had the lock may have removed the file since it was opened here
            is_ours = os.path.samestat(os.fstat(descriptor), path.stat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise CorpusError(
                f"{folder} is being prepared by another process: wait until it has finished."
            )
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
