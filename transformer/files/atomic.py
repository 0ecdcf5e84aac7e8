"""Replace files and folders on disk atomically: they are there whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def backup_path(folder: Path) -> Path:
    """Where the folder that `replace_folder` replaced is kept."""
    # this suffix is in the folders of earlier runs, which are to be resumed
    return folder.with_name(folder.name + ".before")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Make a folder with its parents; a context manager.

    When its block fails, those that were made and are empty are removed.
    """
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


def write_file(path: Path, content: bytes) -> None:
    """Write a file, which is there whole or not at all; a pipe that nobody reads is not waited for.

    Raises:
        OSError: if it cannot be written.
    """
    asked = path
    try:
        is_regular = stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        is_regular = True
    path = path.resolve()  # what a link leads to is replaced, not the link
    if not is_regular:
        # a device such as /dev/stdout, or a pipe; for one without a reader the system refuses
        descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
        os.set_blocking(descriptor, True)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        return
    # no longer than a name may be, and this thread's own: several may write at once
    new = path.with_name(f".{os.getpid()}-{threading.get_ident()}.new")
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # a rename could survive a crash that the content does not
        new.replace(path)
    except BaseException as error:
        new.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(asked)  # the caller knows no other
        raise


@contextmanager
def replace_folder(folder: Path, *, keep_backup: bool = False) -> Iterator[Path]:
    """Yield a temporary folder, which replaces `folder` when the `with` block succeeds.

    The old folder is untouched until then. A crash at any moment leaves the old folder, the new
    one, or, for the instant between two renames, the old one under its backup path.

    Args:
        folder: the folder to replace.
        keep_backup: keep the old folder as `backup_path(folder)`.

    Raises:
        OSError: if it cannot be written; if the folder has no name, as `.` and `/` have none.
    """
    if not folder.name:
        raise OSError(errno.EINVAL, "name a folder to be made", str(folder))
    if folder.is_symlink():
        # what a link leads to is replaced, not the link; resolve() raises no OSError on a loop
        folder = Path(os.path.realpath(folder))
    new, backup = folder.with_name(folder.name + ".new"), backup_path(folder)
    shutil.rmtree(new, ignore_errors=True)
    with new_folder(new.parent):
        new.mkdir()
        try:
            yield new
            for path in new.iterdir():
                _sync(path)
            _sync(new)
            if folder.exists():
                shutil.rmtree(backup, ignore_errors=True)
                folder.rename(backup)
            new.rename(folder)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    _sync(folder.parent)
    if not keep_backup:
        shutil.rmtree(backup, ignore_errors=True)


def _sync(path: Path) -> None:
    """Flush to disk: a rename could survive a crash that the content does not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
