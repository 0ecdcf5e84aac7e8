"""Read untrusted files: only regular ones, and never more bytes than a limit."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

KIB, MIB, GIB = 2**10, 2**20, 2**30

POINTER = b"version https://git-lfs.github.com/spec/"
"""Beginning of the small file that Git LFS leaves in place of one that was not fetched."""
POINTER_ADVICE = "is a pointer of Git LFS and not the file itself; run git lfs pull in its folder"


def read_bytes(path: Path, at_most: int) -> bytes:
    """Read a regular file of at most `at_most` bytes, or raise OSError as `open_bounded`."""
    with open_bounded(path, at_most) as (file, size):
        content = file.read(size + 1)
        if len(content) != size:
            raise OSError(errno.EIO, "its size changed while it was read", str(path))
        return content


def sha256_of(path: Path, at_most: int) -> str:
    """Compute the SHA-256 of a file in chunks, or raise OSError as `open_bounded`."""
    with open_bounded(path, at_most) as (file, _):
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def open_bounded(path: Path, at_most: int) -> Iterator[tuple[BufferedReader, int]]:
    """Open a regular file; yield it with its size in bytes. A context manager.

    A pipe would be waited for, and a device may have no end: each is looked at before it is opened.

    Raises:
        OSError: if it cannot be opened, is not a regular file or has more than `at_most` bytes; its
            `strerror` says so.
    """
    try:
        _require_regular(path.stat(), path)
        # what is put in its place at this moment is not waited for either
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except ValueError as error:  # Python's, before it asks the system
        raise OSError(errno.EINVAL, "its name cannot be that of a file", str(path)) from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _require_regular(status, path)
        if status.st_size > at_most:
            raise OSError(
                errno.EFBIG,
                f"it has {status.st_size:,} bytes, but at most {at_most:,} can be meant",
                str(path),
            )
        if status.st_size < KIB and file.peek(KIB).startswith(POINTER):
            raise OSError(errno.EINVAL, f"it {POINTER_ADVICE}", str(path))
        yield file, status.st_size


def _require_regular(status: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file, but a pipe or a device", str(path))
