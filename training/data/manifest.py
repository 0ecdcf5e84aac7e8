"""Manifests with a checksum of themselves, records of other files, and the lock of a folder."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypedDict

from filelock import FileLock, Timeout

from training.data.corpus import MOST_BYTES_OF_STREAM, CorpusError
from transformer.errors import HeadlightError, quoted, unreadable
from transformer.files.atomic import write_file
from transformer.files.reading import MIB, read_bytes, sha256_of

VERSION = 1


class FileRecord(TypedDict):
    """Size and checksum of a file."""

    bytes: int
    sha256: str


def write_manifest(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON with a version and a checksum of itself."""
    sealed: dict[str, Any] = {"version": VERSION, **content}
    sealed["sha256"] = _checksum(sealed)
    write_file(path, (json.dumps(sealed, indent=2) + "\n").encode())


def read_manifest(path: Path) -> dict[str, Any]:
    """Read what `write_manifest` wrote."""
    try:
        content: dict[str, Any] = json.loads(read_bytes(path, 16 * MIB))
        if content["version"] != VERSION:
            raise CorpusError(
                f"{path} is of version {quoted(content['version'])}, but this program writes "
                f"{VERSION}: prepare the text again."
            )
        is_whole = content.pop("sha256") == _checksum(content)
    except OSError as error:
        raise CorpusError(unreadable(error, path)) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(path) from error
    if not is_whole:
        raise damaged(path)
    return content


def record_files(folder: Path, names: Iterable[str]) -> dict[str, FileRecord]:
    """Return the size and the checksum of each of these files of a folder."""
    return {
        name: {
            "bytes": (folder / name).stat().st_size,
            "sha256": sha256_of(folder / name, MOST_BYTES_OF_STREAM),
        }
        for name in names
    }


def verify_files(folder: Path, records: Mapping[str, FileRecord]) -> None:
    """Compare the files of a folder with their records."""
    for name, record in records.items():
        path = folder / name
        try:
            size = path.stat().st_size
            if size != record["bytes"]:
                raise CorpusError(
                    f"{path} has {size:,} bytes, but {record['bytes']:,} were prepared: remove "
                    f"{folder} and prepare the text again."
                )
            if sha256_of(path, MOST_BYTES_OF_STREAM) != record["sha256"]:
                raise damaged(path)
        except OSError as error:
            raise CorpusError(unreadable(error, path)) from error


def damaged(path: Path) -> CorpusError:
    """Build the error of a file that is not what was written."""
    return CorpusError(f"{path} is damaged: remove {path.parent} and prepare the text again.")


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@contextmanager
def locked(path: Path, refusal: HeadlightError) -> Iterator[None]:
    """Hold a lock file, which the system frees when this process ends; a context manager.

    Raises:
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
