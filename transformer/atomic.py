"""Folders that appear on disk whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def before(folder: Path) -> Path:
    """Where the folder that `replace_folder` replaced is kept."""
    return folder.with_name(folder.name + ".before")


@contextmanager
def replace_folder(folder: Path, *, keep_before: bool = False) -> Iterator[Path]:
    """Fill a temporary folder inside the `with` block; it takes the name when the block ends well.

    What stood there is whole until then. A machine that stops at any moment leaves the old
    folder, the new one, or, for the instant between two renames, the old one under `before`.

    Args:
        folder: the name to take.
        keep_before: keep the folder that stood there as `before(folder)`.
    """
    new, old = folder.with_name(folder.name + ".new"), before(folder)
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
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
    new.rename(folder)
    _sync(folder.parent)
    if not keep_before:
        shutil.rmtree(old, ignore_errors=True)


def _sync(path: Path) -> None:
    """Wait until the disk has it: a rename could survive a crash that its content does not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
