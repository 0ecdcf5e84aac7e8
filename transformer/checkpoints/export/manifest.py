"""EXPORT.json: the engine of an exported folder, what it was made from, SHA-256 of each file."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from transformer.checkpoints.checkpoint import Checkpoint
from transformer.config import LATER
from transformer.errors import CheckpointError, quoted, reading, writing
from transformer.files.atomic import FolderKind, replace_folder
from transformer.files.documents import parse_json
from transformer.files.reading import GIB, MIB, read_bytes, sha256_of

FORMAT = 1
EXPORT = "EXPORT.json"
MAX_MODEL_BYTES = 8 * GIB
MAX_JSON_BYTES = MIB


@contextmanager
def new_export(
    folder: Path, checkpoint: Checkpoint, engine: str, **settings: str
) -> Iterator[Path]:
    """Yield a temporary folder that becomes, with its manifest, the export; a context manager."""
    config = checkpoint.model.config
    if further := sorted(config.to_dict().keys() & LATER.keys()):
        raise CheckpointError(
            f"{checkpoint.folder} holds a model with {further[0]} = "
            f"{getattr(config, further[0])}, which no export carries: take it as it is."
        )
    kind = FolderKind(f"an export for {engine}", partial(_checksums, engine=engine))
    with writing(folder), replace_folder(folder, kind) as new:
        yield new
        names = sorted(path.name for path in new.iterdir())
        manifest = {
            "format": FORMAT,
            "engine": engine,
            **settings,
            "checkpoint": checkpoint.checksum,
            "model": checkpoint.model.config.to_dict(),
            **checkpoint.languages.record(),
            "sha256": {name: sha256_of(new / name, MAX_MODEL_BYTES) for name in names},
        }
        (new / EXPORT).write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of an exported folder.

    Raises:
        ValueError, KeyError, TypeError: if it is damaged.
    """
    path = folder / EXPORT
    with reading(path):
        manifest: dict[str, Any] = parse_json(read_bytes(path, MAX_JSON_BYTES))
    if manifest["format"] != FORMAT:
        raise CheckpointError(
            f"{path} says format {quoted(manifest['format'])}, but this program reads format "
            f"{FORMAT}: export the model again."
        )
    return manifest


def _checksums(folder: Path, engine: str) -> dict[str, str | None]:
    manifest = read_manifest(folder)
    if manifest["engine"] != engine:
        return {}
    return {**{name: str(checksum) for name, checksum in manifest["sha256"].items()}, EXPORT: None}
