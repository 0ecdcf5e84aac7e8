"""Prepared text: one folder with the pieces of all pairs, which every process maps."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from training.data.corpus import MAX_STREAM_BYTES, CorpusError
from training.data.text_folders import DataFolder, LanguageCodes
from transformer.errors import quoted, reading
from transformer.files.atomic import write_file
from transformer.files.documents import parse_json
from transformer.files.reading import MIB, read_bytes, sha256_of
from transformer.text.languages import LANGUAGES

# the manifest has a version, the parts with their weights, and size and SHA-256 of all other files
MANIFEST, TOKENIZER, VALIDATION = "PREPARED.json", "tokenizer.model", "valid"
VERSION = 1


@dataclass(frozen=True)
class Prepared:
    """A prepared folder, and what its manifest says."""

    folder: Path
    manifest: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> "Prepared":
        """Read the manifest of a folder."""
        return cls(folder, read_manifest(folder / MANIFEST))

    @property
    def codes(self) -> LanguageCodes:
        """The languages of its text."""
        return LanguageCodes(*self.manifest["asked"]["options"][LANGUAGES])


def is_prepared(folder: Path) -> bool:
    """Return whether a folder was prepared, even if it is damaged."""
    return (folder / MANIFEST).exists()


def prepared_among(folders: Sequence[DataFolder]) -> Prepared | None:
    """Find the prepared folder among folders; None if all hold text."""
    prepared = next((folder for folder in folders if is_prepared(folder.path)), None)
    if prepared is None:
        return None
    if len(folders) > 1 or prepared.weight != 1:
        raise CorpusError(
            f"{prepared.path} is prepared and stands alone, with the weights it was prepared with: "
            f"give no other folder and no weight, or prepare all of them together."
        )
    return Prepared.read(prepared.path)


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
        with reading(path, CorpusError):
            content: dict[str, Any] = parse_json(read_bytes(path, 16 * MIB))
        if content["version"] != VERSION:
            raise CorpusError(
                f"{path} is of version {quoted(content['version'])}, but this program writes "
                f"{VERSION}: prepare the text again."
            )
        if content.pop("sha256") != _checksum(content):
            raise ValueError("another content")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged_error(path) from error
    return content


def record_files(folder: Path, names: Iterable[str]) -> dict[str, FileRecord]:
    """Return the size and the checksum of each of these files of a folder."""
    return {
        name: {
            "bytes": (folder / name).stat().st_size,
            "sha256": sha256_of(folder / name, MAX_STREAM_BYTES),
        }
        for name in names
    }


def verify_files(folder: Path, records: Mapping[str, FileRecord]) -> None:
    """Compare the files of a folder with their records."""
    for name, record in records.items():
        path = folder / name
        with reading(path, CorpusError):
            size = path.stat().st_size
            if size != record["bytes"]:
                raise CorpusError(
                    f"{path} has {size:,} bytes, but {record['bytes']:,} were prepared: remove "
                    f"{folder} and prepare the text again."
                )
            if sha256_of(path, MAX_STREAM_BYTES) != record["sha256"]:
                raise damaged_error(path)


def damaged_error(path: Path) -> CorpusError:
    """Build the error of a file that is not what was written."""
    return CorpusError(f"{path} is damaged: remove {path.parent} and prepare the text again.")


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
