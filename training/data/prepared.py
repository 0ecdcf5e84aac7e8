"""Prepared text: one folder with the pieces of all pairs, which every process maps."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from training.config import RunConfig
from training.data.corpus import MAX_STREAM_BYTES, CorpusError, ParallelText
from training.data.encoded_text import NAMES, Part, TrainingText, mapped_text
from training.data.text_folders import DataFolder, LanguageCodes, read_parallel
from transformer.errors import quoted, reading
from transformer.files.atomic import write_file
from transformer.files.reading import MIB, opened, read_bytes, sha256_of
from transformer.text import tokenizer as tokenizers
from transformer.text.tokenizer import Tokenizer

# the manifest has a version, the parts with their weights, and size and SHA-256 of all other files
MANIFEST, TOKENIZER, VALIDATION = "PREPARED.json", "tokenizer.model", "valid"
VERSION = 1


@dataclass(frozen=True, eq=False)
class RunData:
    """Data of a run; each side of a pair has fewer pieces than `max_pieces`."""

    tokenizer: Tokenizer
    text: TrainingText
    validation: ParallelText
    max_pieces: int
    codes: LanguageCodes

    def require(
        self,
        folder: Path,
        config: RunConfig,
        codes: LanguageCodes,
        vocabulary: tuple[Tokenizer, Path] | None = None,
    ) -> None:
        """Raise CorpusError unless a folder was prepared for these languages and this recipe."""
        if codes != self.codes:
            raise CorpusError(
                f"{folder} was prepared from {self.codes}, and not from {codes}: leave "
                f"--source and --target out, or prepare the text with them."
            )
        for name, ours, theirs in (
            ("vocab_size", config.model.vocab_size, self.tokenizer.vocab_size),
            ("max_pieces", config.recipe.max_pieces, self.max_pieces),
        ):
            if ours != theirs:
                raise CorpusError(
                    f"{folder} was prepared with {name} = {theirs}, but the configuration "
                    f"says {ours}: prepare the text with this configuration."
                )
        if vocabulary and vocabulary[0].model != self.tokenizer.model:
            raise CorpusError(
                f"{folder} was prepared with another vocabulary than that of {vocabulary[1]}: "
                f"prepare the text with --tokenizer {vocabulary[1]}."
            )


def is_prepared(folder: Path) -> bool:
    """Return whether a folder was prepared, even if it is damaged."""
    return (folder / MANIFEST).exists()


def prepared_among(folders: Sequence[DataFolder]) -> Path | None:
    """Find the prepared folder among folders; None if all hold text."""
    prepared = next((folder for folder in folders if is_prepared(folder.path)), None)
    if prepared is None:
        return None
    if len(folders) > 1 or prepared.weight != 1:
        raise CorpusError(
            f"{prepared.path} is prepared and stands alone, with the weights it was prepared with: "
            f"give no other folder and no weight, or prepare all of them together."
        )
    return prepared.path


def open_prepared(folder: Path) -> RunData:
    """Map a prepared folder; its checksums are verified, and nothing is held in memory."""
    manifest = read_manifest(folder / MANIFEST)
    verify_files(folder, manifest["files"])
    checksums = {name: manifest["files"][name]["sha256"] for name in NAMES}
    parts = tuple(Part(**part) for part in manifest["parts"])
    with reading(folder, CorpusError), ExitStack() as stack:
        files = {
            name: stack.enter_context(opened(folder / name, MAX_STREAM_BYTES))[0] for name in NAMES
        }
        encoded = mapped_text(files, manifest["pieces"], manifest["left_out"])
        tokenizer = Tokenizer(read_bytes(folder / TOKENIZER, tokenizers.MAX_BYTES))
    codes = prepared_languages(folder)
    validation = read_parallel(folder / VALIDATION, codes)
    text = TrainingText(encoded, parts, checksums)
    return RunData(tokenizer, text, validation, manifest["max_pieces"], codes)


def prepared_languages(folder: Path) -> LanguageCodes:
    """Return the languages of a prepared folder; CorpusError if its manifest is damaged."""
    return LanguageCodes.from_record(read_manifest(folder / MANIFEST)["asked"]["options"])


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
            content: dict[str, Any] = json.loads(read_bytes(path, 16 * MIB))
        if content["version"] != VERSION:
            raise CorpusError(
                f"{path} is of version {quoted(content['version'])}, but this program writes "
                f"{VERSION}: prepare the text again."
            )
        is_whole = content.pop("sha256") == _checksum(content)
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
                raise damaged(path)


def damaged(path: Path) -> CorpusError:
    """Build the error of a file that is not what was written."""
    return CorpusError(f"{path} is damaged: remove {path.parent} and prepare the text again.")


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
