"""Replace a folder on disk atomically: it is there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def backup_path(folder: Path) -> Path:
    """Where the folder that `replace_folder` replaced is kept."""
    # this suffix is in the folders of earlier runs, which are to be resumed
    return folder.with_name(folder.name + ".before")


@contextmanager
def replace_folder(folder: Path, *, keep_backup: bool = False) -> Iterator[Path]:
    """Yield a temporary folder, which replaces `folder` when the `with` block succeeds.

    The old folder is untouched until then. A crash at any moment leaves the old folder, the new
    one, or, for the instant between two renames, the old one under its backup path.

    Args:
        folder: the folder to replace.
        keep_backup: keep the old folder as `backup_path(folder)`.
    """
    new, backup = folder.with_name(folder.name + ".new"), backup_path(folder)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        for path in new.iterdir():
            _sync(path)
        _sync(new)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    if folder.exists():
        shutil.rmtree(backup, ignore_errors=True)
        folder.rename(backup)
    new.rename(folder)
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
