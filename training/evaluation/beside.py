"""Files that are measured of a checkpoint and stored beside it, with their checksums."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformer.checkpoints.checkpoint import FORMAT, MANIFEST, MOST_BYTES_OF_JSON
from transformer.checkpoints.marian import is_marian
from transformer.errors import CheckpointError, unreadable, unwritable
from transformer.files.atomic import has_content, write_file, write_files
from transformer.files.reading import read_bytes

MEASURED = "MEASURED.json"
"""The manifest of what was stored in a MarianMT folder."""


def require_place(folder: Path, out: Path | None, names: Sequence[str] = ()) -> None:
    """Make sure, before anything is measured, that the result can be stored.

    Args:
        folder: the checkpoint, in which it is stored.
        out: the file that is written instead, if any; the other files are written beside it.
        names: the files to store.

    Raises:
        CheckpointError: if the folder in which something is to be written is none, or read-only, or
            a file of this name is there that was not stored by this program.
    """
    place = folder if out is None else out.absolute().parent
    if not os.path.isdir(place) or not os.access(place, os.W_OK):  # noqa: PTH112
        raise CheckpointError(
            f"Nothing can be written in {place}: make that folder, or choose a place with --out."
        )
    if out is not None and out.is_dir():
        raise CheckpointError(f"{out} is a folder: name the file to write.")
    listed = _read_list(folder)["sha256"] if names and out is None else {}
    for name in names if out is None else names[1:]:
        path = place / name
        if os.path.lexists(path) and not has_content(path, str(listed.get(name))):
            raise CheckpointError(
                f"{path} is there and would be lost: move it away, or choose another place with "
                f"--out."
            )


def store(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put files into a checkpoint folder and list them in its manifest; all of it or nothing.

    Args:
        folder: a checkpoint that was loaded before, so its manifest is one of ours.
        files: content by name; one that was stored before is replaced.

    Raises:
        CheckpointError: if the folder cannot be written, or other files of these names are there.
    """
    require_place(folder, None, [*files])
    contents = [(folder / name, content) for name, content in files.items()]
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    manifest = _read_list(folder)
    others = {name: old for name, old in manifest["sha256"].items() if name not in files}
    # a process that is killed between two files leaves a checkpoint whose listed files are whole
    lists = [manifest | {"sha256": dict(sorted(s.items()))} for s in (others, others | checksums)]
    first, last = [(_list(folder), (json.dumps(m, indent=2) + "\n").encode()) for m in lists]
    try:
        write_files([first, *contents, last])
    except OSError as error:
        raise CheckpointError(unwritable(error, folder)) from error


def _list(folder: Path) -> Path:
    """Return the path of the manifest that lists stored files; a MarianMT folder has its own."""
    return folder / (MEASURED if is_marian(folder) else MANIFEST)


def _read_list(folder: Path) -> dict[str, Any]:
    path = _list(folder)
    if path.name == MEASURED and not path.exists():
        return {"format": FORMAT, "sha256": {}}
    try:
        manifest: dict[str, Any] = json.loads(read_bytes(path, MOST_BYTES_OF_JSON))
        if manifest["format"] != FORMAT:
            raise ValueError("another format")
        return manifest | {"sha256": {**manifest["sha256"]}}
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CheckpointError(f"{path} is not a manifest of ours: move it away.") from error


def write(path: Path, content: bytes) -> None:
    """Write one file somewhere else.

    Raises:
        CheckpointError: if it cannot be written.
    """
    try:
        write_file(path, content)
    except OSError as error:
        raise CheckpointError(unwritable(error, path)) from error
    except ValueError as error:  # Python's, before it asks the system
        raise CheckpointError(f"{path!r} cannot be the name of a file: choose another.") from error
