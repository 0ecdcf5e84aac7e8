"""The exported folder: what CTranslate2 reads, the tokenizer, and EXPORT.json with checksums.

`model.bin` · `config.json` · `shared_vocabulary.json` (these three are CTranslate2's) ·
`tokenizer.model` · `domain.json` if the checkpoint has one · `EXPORT.json` (format version, the
checkpoint's checksum, its configuration, SHA-256 of each file).
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer import checkpoint as checkpoints
from transformer import domain, marian
from transformer.atomic import replace_folder
from transformer.checkpoint import CONFIG, TOKENIZER, Checkpoint
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, ConfigError, quoted, unreadable, unwritable
from transformer.export.specification import specification
from transformer.reading import GIB, MIB, read_bytes, sha256_of
from transformer.shapes import refuse_too_large
from transformer.tokenizer import Tokenizer

FORMAT = 1
EXPORT = "EXPORT.json"
QUANTIZATIONS = ("none", "int8", "int16", "float16", "bfloat16")
REQUIRED = ("model.bin", CONFIG, "shared_vocabulary.json", TOKENIZER)
MOST_BYTES_OF_MODEL = 8 * GIB
MOST_BYTES_OF_JSON = MIB


@dataclass(frozen=True)
class Exported:
    """An exported folder whose files are those that were written."""

    folder: Path
    config: TransformerConfig
    tokenizer: Tokenizer
    checksum: str  # of the checkpoint it was made from


def is_export(folder: Path) -> bool:
    """Whether this folder was written by `write`."""
    return os.path.isfile(folder / EXPORT)  # noqa: PTH113 — Path raises on a name too long


def load_to_export(folder: Path) -> Checkpoint:
    """Read a checkpoint of ours.

    Raises:
        CheckpointError: naming the file and what is wrong with it, or if it is a MarianMT folder.
    """
    if marian.is_marian(folder):
        raise CheckpointError(
            f"{folder} is a MarianMT folder, which CTranslate2 converts itself: take its command "
            f"ct2-transformers-converter."
        )
    return checkpoints.load(folder)


def write(checkpoint: Checkpoint, folder: Path, quantization: str = "none") -> None:
    """Write a model for CTranslate2; an export that is there already is replaced atomically.

    Args:
        quantization: type of the stored weights, one of `QUANTIZATIONS`; `none` is float32.

    Raises:
        ConfigError: if CTranslate2 is not installed.
        CheckpointError: if something else is there, or it cannot be written.
    """
    taken = any(folder.iterdir()) if folder.is_dir() else os.path.lexists(folder)
    if taken and not is_export(folder):
        raise CheckpointError(f"{folder} is there and is no export: choose another folder.")
    try:
        with replace_folder(folder) as new:
            _write(checkpoint, new, quantization)
    except OSError as error:
        raise CheckpointError(unwritable(error, folder)) from error


def _write(checkpoint: Checkpoint, new: Path, quantization: str) -> None:
    spec = specification(checkpoint.model, checkpoint.tokenizer)
    spec.validate()
    spec.optimize(None if quantization == "none" else quantization)
    spec.save(str(new))
    (new / TOKENIZER).write_bytes(checkpoint.tokenizer.model)
    if (checkpoint.folder / domain.FILE).is_file():
        shutil.copyfile(checkpoint.folder / domain.FILE, new / domain.FILE)
    names = sorted(path.name for path in new.iterdir())
    manifest = {
        "format": FORMAT,
        "engine": "ctranslate2",
        "quantization": quantization,
        "checkpoint": checkpoint.checksum,
        "model": checkpoint.model.config.to_dict(),
        "sha256": {name: sha256_of(new / name, MOST_BYTES_OF_MODEL) for name in names},
    }
    (new / EXPORT).write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


def read(folder: Path) -> Exported:
    """Verify every checksum of an exported folder.

    Raises:
        CheckpointError: naming the file and what is wrong with it.
    """
    try:
        manifest = _manifest(folder)
        config = TransformerConfig.from_dict(manifest["model"])
        refuse_too_large(config)
        checksums = {name: str(manifest["sha256"][name]) for name in REQUIRED}
        checkpoint = str(manifest["checkpoint"])
    except (ValueError, TypeError, KeyError, RecursionError, ConfigError) as error:
        raise CheckpointError(f"{folder / EXPORT} is damaged: export the model again.") from error
    for name, checksum in checksums.items():
        try:
            found = sha256_of(folder / name, MOST_BYTES_OF_MODEL)
        except OSError as error:
            raise CheckpointError(unreadable(error, folder / name)) from error
        if found != checksum:
            raise CheckpointError(
                f"{folder / name} is damaged: its SHA-256 is not the one in {EXPORT}; export the "
                f"model again."
            )
    return Exported(folder, config, Tokenizer.load(folder / TOKENIZER), checkpoint)


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / EXPORT
    try:
        manifest: dict[str, Any] = json.loads(read_bytes(path, MOST_BYTES_OF_JSON))
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
    if manifest["format"] != FORMAT:
        raise CheckpointError(
            f"{path} says format {quoted(manifest['format'])}, but this program reads format "
            f"{FORMAT}: export the model again."
        )
    return manifest
