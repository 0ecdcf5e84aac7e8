"""Files that are measured of a checkpoint and stored beside it, with their checksums."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from transformer.checkpoints.checkpoint import MANIFEST
from transformer.checkpoints.marian import is_marian
from transformer.errors import CheckpointError, unwritable
from transformer.files.atomic import replace_folder, write_file


def require_place(folder: Path, out: Path | None) -> None:
    """Make sure, before anything is measured, that the result can be stored.

    Args:
        folder: the checkpoint, beside which it is stored.
        out: the file that is written instead, if any.

    Raises:
        CheckpointError: if the folder in which something is to be written is none, or read-only.
    """
    place = folder.resolve().parent if out is None else out.absolute().parent
    if not os.path.isdir(place) or not os.access(place, os.W_OK):  # noqa: PTH112
        raise CheckpointError(
            f"Nothing can be written in {place}: make that folder, or choose a place with --out."
        )


def store(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put files into a checkpoint folder and list them in its manifest; all of it or nothing.

    A MarianMT folder has no manifest: each file is written as a whole.

    Args:
        folder: a checkpoint that was loaded before, so its manifest is one of ours.
        files: content by name; one that is there already is replaced.

    Raises:
        CheckpointError: if the folder cannot be written.
    """
    if is_marian(folder):
        for name, content in files.items():
            write(folder / name, content)
        return
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        checksums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        manifest["sha256"] = dict(sorted({**manifest["sha256"], **checksums}.items()))
        with replace_folder(folder) as new:
            shutil.copytree(folder, new, dirs_exist_ok=True)
            for name, content in files.items():
                (new / name).write_bytes(content)
            (new / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    except (OSError, shutil.Error) as error:
        raise CheckpointError(unwritable_folder(error, folder)) from error


def write(path: Path, content: bytes) -> None:
    """Write one file somewhere else.

    Raises:
        CheckpointError: if it cannot be written.
    """
    try:
        write_file(path, content)
    except (OSError, ValueError) as error:
        raise CheckpointError(unwritable_folder(error, path)) from error


def unwritable_folder(error: Exception, path: Path) -> str:
    """One sentence on a folder or a file that cannot be written."""
    if isinstance(error, OSError) and not isinstance(error, shutil.Error):
        return unwritable(error, path)
    return f"{path} cannot be written: choose another place with --out."
