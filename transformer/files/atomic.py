"""Replace files and folders on disk atomically, and none that this program did not write.

Temporary names are new ones beside the target: `NAME.headlight-` and eight random characters. The
process that writes there has such a folder locked (`flock`), which ends with it, however it ends:
`sweep` removes those that no process has locked.
"""

import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from transformer.errors import CheckpointError
from transformer.files.reading import GIB, sha256_of

fcntl: Any = None
with suppress(ModuleNotFoundError):  # Windows has none
    import fcntl

MARK = ".headlight-"  # in the name of every temporary folder

MAX_BYTES = 64 * GIB  # of a file that is compared with its checksum
_NEW, _OLD = "new", "old"


def is_leftover(path: Path) -> bool:
    """Return whether a path has the name of a temporary folder, as a killed writer leaves it."""
    return fnmatch(path.name, f"*{MARK}????????") and path.is_dir()


def sweep(parent: Path) -> None:
    """Remove the temporary folders of this user that no process writes to any more.

    One with a folder that was to be replaced stays: that may be the only copy.
    """
    for work in filter(is_leftover, list(parent.glob(f"*{MARK}*"))):
        if (lock := _lock(work, wait=False)) is not None:
            if os.fstat(lock).st_uid == os.getuid():
                _remove(work)
            os.close(lock)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Make a folder with its parents, which leave again if the block fails; a context manager."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:  # a file, where a folder should be
            number = errno.ENOTDIR
            raise NotADirectoryError(number, os.strerror(number), str(folder)) from error
        yield folder
    except BaseException:
        for path in made:  # the deepest comes first
            with suppress(OSError):
                path.rmdir()
        raise


def require_room(folder: Path) -> None:
    """Raise OSError unless files can be made in a folder or, where it is missing, above it."""
    with suppress(FileNotFoundError, NotADirectoryError):
        folder.stat()  # its name may be too long
    there = (path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    with temporary_folder(next(there)):
        pass


def write_file(path: Path, content: bytes) -> None:
    """Write a file, which is there whole or not at all; no pipe without a reader is waited for."""
    if is_stream(path):
        if (given := _descriptor(path)) is not None:
            descriptor = os.dup(given)
        else:  # for a pipe without a reader the system refuses
            descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
            os.set_blocking(descriptor, True)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        return
    try:
        write_files([(path.resolve(), content)])  # not the link, but what it leads to is replaced
    except OSError as error:
        error.filename = str(path)  # the caller knows no other
        raise


def is_stream(path: Path) -> bool:
    """Return whether a path is a pipe or a device, or the name of an open descriptor."""
    with suppress(FileNotFoundError, NotADirectoryError):
        kind = stat.S_IFMT(path.stat().st_mode)
        return kind not in (stat.S_IFREG, stat.S_IFDIR) or _descriptor(path) is not None
    return False


def _descriptor(path: Path) -> int | None:
    """Return the descriptor that a path such as /dev/stdout or /dev/fd/63 names."""
    if path.parent == Path("/dev/fd") and path.name.isdecimal():
        return int(path.name)
    return {"/dev/stdout": 1, "/dev/stderr": 2}.get(str(path))


def write_files(contents: Sequence[tuple[Path, bytes]]) -> None:
    """Replace regular files of one folder in this order; if one cannot be written, none is.

    Raises:
        OSError: if one cannot be written.
    """
    parent = contents[0][0].parent
    with _temporary_folder(parent, "") as work:
        for number, (_, content) in enumerate(contents):
            with (work / str(number)).open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # a rename could survive a crash that the content does not
        for number, (path, _) in enumerate(contents):
            (work / str(number)).replace(path)
        _sync(parent)


def why_occupied(folder: Path) -> str:
    """Return a sentence on why no folder can be put at a path; empty if it is free or empty.

    Raises:
        OSError: if the folder cannot be read.
    """
    is_folder = folder.is_dir() and not folder.is_symlink()
    if any(folder.iterdir()) if is_folder else os.path.lexists(folder):
        return f"{folder} is there and is not an empty folder: choose another folder."
    return ""


@contextmanager
def replace_folder(folder: Path, refusal: Callable[[Path], str] = why_occupied) -> Iterator[Path]:
    """Yield a temporary folder, which replaces `folder` when the `with` block succeeds.

    The old folder is untouched until then, and stays where `refusal` has a sentence against its
    loss. A crash at any moment leaves the old folder, the new one, or, for the instant between two
    renames, the old one in the temporary folder.

    Raises:
        OSError: if it cannot be written; if the folder has no name, as `.` and `/` have none.
        CheckpointError: with the sentence of `refusal`.
    """
    if not folder.name:
        raise OSError(errno.EINVAL, "name a folder to be made", str(folder))
    if folder.is_symlink():
        # what a link leads to is replaced, not the link; resolve() raises no OSError on a loop
        folder = Path(os.path.realpath(folder))
    _require_free(folder, refusal)
    sweep(folder.parent)
    with new_folder(folder.parent), _temporary_folder(folder.parent, folder.name) as work:
        new, old = work / _NEW, work / _OLD
        new.mkdir()
        yield new
        for path in (*new.iterdir(), new):
            _sync(path)
        _require_free(folder, refusal)  # files may have come meanwhile
        if is_there := folder.exists():
            folder.rename(old)
        try:
            new.rename(folder)
        except BaseException:
            if is_there:
                old.rename(folder)
            raise
        _sync(folder.parent)
        if is_there and not refusal(old):
            shutil.rmtree(old, ignore_errors=True)


def _require_free(folder: Path, refusal: Callable[[Path], str]) -> None:
    if sentence := refusal(folder):
        raise CheckpointError(sentence)


def has_content(path: Path, checksum: str | None) -> bool:
    """Return whether a path is a regular file with this SHA-256, or with any for None."""
    if path.is_symlink() or not path.is_file():
        return False
    return checksum is None or sha256_of(path, MAX_BYTES) == checksum


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """Make a temporary folder, in that of the system unless given; a context manager.

    It is removed in the end, or, where the process is killed, by the next that makes one there.
    """
    parent = parent or Path(tempfile.gettempdir())
    sweep(parent)
    with _temporary_folder(parent, "") as work:
        new = work / _NEW
        new.mkdir()
        yield new


@contextmanager
def _temporary_folder(parent: Path, name: str) -> Iterator[Path]:
    """Make a folder with a new name, and remove what was written there; a context manager."""
    try:
        # a name has at most 255 bytes, and a character at most four
        while True:
            work = Path(tempfile.mkdtemp(prefix=f"{name[:50]}{MARK}", dir=parent))
            lock = _lock(work, wait=True)
            if work.exists():  # another process may sweep it away until it is locked
                break
    except OSError as error:
        error.filename = str(parent / name)
        raise
    try:
        yield work
    except OSError as error:
        if str(error.filename).startswith(str(work)):
            error.filename = str(parent / name)
        raise
    finally:
        _remove(work)
        if lock is not None:
            os.close(lock)


def _remove(work: Path) -> None:
    """Remove a temporary folder, unless a folder that was to be replaced is in it."""
    if not (work / _OLD).exists():
        shutil.rmtree(work, ignore_errors=True)


def _lock(work: Path, *, wait: bool) -> int | None:
    """Lock a folder while the descriptor is open; None if another process has, or none can."""
    with suppress(OSError, AttributeError):  # Windows, and some network drives, have none
        descriptor = os.open(work, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return descriptor
        except OSError:
            os.close(descriptor)
    return None


def _sync(path: Path) -> None:
    """Flush to disk: a rename could survive a crash that the content does not."""
    is_windows = sys.platform == "win32"  # it flushes no folder, and a file only if it may write
    if is_windows and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if is_windows else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
