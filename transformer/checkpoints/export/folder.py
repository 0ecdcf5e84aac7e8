"""The folder for CTranslate2: what that reads, the tokenizer, and EXPORT.json with checksums.

`model.bin` · `config.json` · `shared_vocabulary.json` (these three are CTranslate2's) ·
`tokenizer.model` · `domain.json` if the checkpoint has one · `EXPORT.json` (format version, the
checkpoint's checksum, its configuration, SHA-256 of each file).
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from transformer.checkpoints import checkpoint as checkpoints
from transformer.checkpoints import domain, marian
from transformer.checkpoints.checkpoint import CONFIG, TOKENIZER, Checkpoint
from transformer.checkpoints.export.manifest import (
    EXPORT,
    MOST_BYTES_OF_MODEL,
    new_export,
    read_manifest,
)
from transformer.checkpoints.export.specification import specification
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, ConfigError, unreadable
from transformer.files.reading import sha256_of
from transformer.shapes import refuse_too_large
from transformer.text.tokenizer import Tokenizer

ENGINE = "ctranslate2"
QUANTIZATIONS = ("none", "int8", "int16", "float16", "bfloat16")
REQUIRED = ("model.bin", CONFIG, "shared_vocabulary.json", TOKENIZER)


@dataclass(frozen=True)
class Exported:
    """An exported folder whose files are those that were written."""

    folder: Path
    config: TransformerConfig
    tokenizer: Tokenizer
    checksum: str  # of the checkpoint it was made from


def is_export(folder: Path) -> bool:
    """Return whether `write` wrote this folder, damaged or not."""
    is_file = os.path.isfile(folder / EXPORT)  # noqa: PTH113 — Path raises on a name too long
    return is_file and not marian.is_marian(folder)


def load_to_export(folder: Path) -> Checkpoint:
    """Read a checkpoint of ours.

    Raises:
        CheckpointError: naming the file and what is wrong with it, or if it is a MarianMT folder.
    """
    if marian.is_marian(folder):
        if (folder / EXPORT).is_file():
            raise CheckpointError(
                f"{folder} was exported to the layout of MarianMT: take the checkpoint that it was "
                f"exported from."
            )
        raise CheckpointError(
            f"{folder} is a MarianMT folder, which CTranslate2 converts itself: take its command "
            f"ct2-transformers-converter."
        )
    return checkpoints.load(folder)


def write(checkpoint: Checkpoint, folder: Path, quantization: str = "none") -> None:
    """Write a model for CTranslate2; an export that is there already is replaced atomically.

    Args:
        checkpoint: the checkpoint to export.
        folder: the folder to write.
        quantization: type of the stored weights, one of `QUANTIZATIONS`; `none` is float32.

    Raises:
        ConfigError: if CTranslate2 is not installed.
        CheckpointError: if something else is there, or it cannot be written.
    """
    with new_export(folder, checkpoint, ENGINE, quantization=quantization) as new:
        _write(checkpoint, new, quantization)


def _write(checkpoint: Checkpoint, new: Path, quantization: str) -> None:
    spec = specification(checkpoint.model, checkpoint.tokenizer)
    spec.validate()
    spec.optimize(None if quantization == "none" else quantization)
    spec.save(str(new))
    (new / TOKENIZER).write_bytes(checkpoint.tokenizer.model)
    if (checkpoint.folder / domain.FILE).is_file():
        shutil.copyfile(checkpoint.folder / domain.FILE, new / domain.FILE)


def read(folder: Path) -> Exported:
    """Verify every checksum of an exported folder.

    Raises:
        CheckpointError: naming the file and what is wrong with it.
    """
    try:
        manifest = read_manifest(folder)
        config = TransformerConfig.from_dict(manifest["model"])
        refuse_too_large(config)
        listed = manifest["sha256"]
        names = (*REQUIRED, domain.FILE) if domain.FILE in listed else REQUIRED
        checksums = {name: str(listed[name]) for name in names}
        checkpoint = str(manifest["checkpoint"])
    except (ValueError, TypeError, KeyError, RecursionError, ConfigError) as error:
        raise CheckpointError(f"{folder / EXPORT} is damaged: export the model again.") from error
    for name, checksum in checksums.items():
        try:
            actual = sha256_of(folder / name, MOST_BYTES_OF_MODEL)
        except OSError as error:
            raise CheckpointError(unreadable(error, folder / name)) from error
        if actual != checksum:
            raise CheckpointError(
                f"{folder / name} is damaged: its SHA-256 is not the one in {EXPORT}; export the "
                f"model again."
            )
    return Exported(folder, config, Tokenizer.load(folder / TOKENIZER), checkpoint)
