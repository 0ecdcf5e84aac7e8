"""The checkpoint folder: weights, configuration, tokenizer, and their checksums. Never pickle."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from transformer.atomic import replace_folder
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, ConfigError
from transformer.model import Transformer
from transformer.tokenizer import Tokenizer

FORMAT = 1
WEIGHTS, CONFIG, TOKENIZER, MANIFEST = (
    "model.safetensors",
    "config.json",
    "tokenizer.model",
    "MANIFEST.json",
)
REQUIRED = (WEIGHTS, CONFIG, TOKENIZER)


@dataclass(frozen=True)
class Checkpoint:
    """A model, its tokenizer, and the folder they came from."""

    model: Transformer
    tokenizer: Tokenizer
    folder: Path
    checksum: str  # of the manifest: two folders with one checksum hold one model


def save(
    folder: Path,
    model: Transformer,
    tokenizer: Tokenizer,
    *,
    dtype: torch.dtype = torch.float32,
    extra: dict[str, str] | None = None,
) -> None:
    """Write a checkpoint folder.

    Args:
        folder: a checkpoint that is there already is replaced atomically.
        dtype: type of the weights on disk; loading always gives float32.
        extra: further text files by name, such as a model card; they get a checksum too.

    Raises:
        CheckpointError: if something else is there.
    """
    _refuse_anything_else(folder)
    weights = {name: p.detach().to("cpu", dtype) for name, p in model.named_parameters()}
    files: dict[str, bytes] = {
        WEIGHTS: safetensors.torch.save({n: w.contiguous() for n, w in weights.items()}),
        CONFIG: (json.dumps(model.config.to_dict(), indent=2) + "\n").encode(),
        TOKENIZER: tokenizer.model,
        **{name: text.encode() for name, text in (extra or {}).items()},
    }
    checksums = {name: _sha256(content) for name, content in sorted(files.items())}
    manifest = {"format": FORMAT, "sha256": checksums}
    files[MANIFEST] = (json.dumps(manifest, indent=2) + "\n").encode()
    with replace_folder(folder) as new:
        for name, content in files.items():
            (new / name).write_bytes(content)


def _refuse_anything_else(folder: Path) -> None:
    """Replacing a folder deletes its content: refuse any that is not a checkpoint."""
    taken = any(folder.iterdir()) if folder.is_dir() else folder.exists()
    if taken and not (folder / MANIFEST).is_file():
        raise CheckpointError(f"{folder} is there and is no checkpoint: choose another folder.")


def load(folder: Path) -> Checkpoint:
    """Read a checkpoint folder and verify every checksum; the model is in evaluation mode.

    Raises:
        CheckpointError: naming the file and what is wrong with it.
    """
    reader = _Reader(folder)
    tokenizer = Tokenizer(reader.read(TOKENIZER))
    config = _config(reader)
    if config.vocab_size != tokenizer.vocab_size:
        raise CheckpointError(
            f"{folder / CONFIG} says vocab_size = {config.vocab_size}, but {TOKENIZER} has "
            f"{tokenizer.vocab_size} pieces: they belong to different models."
        )
    model = Transformer(config)
    _load_weights(model, reader)
    return Checkpoint(model.eval(), tokenizer, folder, _sha256(reader.manifest_text))


@dataclass
class _Reader:
    """Reads files of one folder and verifies them by the checksums of its manifest."""

    folder: Path
    manifest_text: bytes = b""
    checksums: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise CheckpointError(f"There is no checkpoint folder {self.folder}.")
        self.manifest_text = self._bytes(MANIFEST)
        try:
            manifest = json.loads(self.manifest_text)
            format_, checksums = manifest["format"], dict(manifest["sha256"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise CheckpointError(
                f"{self.folder / MANIFEST} is not a manifest of ours: copy the folder again."
            ) from error
        if format_ != FORMAT:
            raise CheckpointError(
                f"{self.folder / MANIFEST} says format {format_!r}, but this program reads "
                f"format {FORMAT}."
            )
        if missing := [name for name in REQUIRED if name not in checksums]:
            raise CheckpointError(f"{self.folder / MANIFEST} does not list {missing[0]}.")
        self.checksums = checksums

    def read(self, name: str) -> bytes:
        """The content of a file.

        Raises:
            CheckpointError: if its checksum is wrong.
        """
        content = self._bytes(name)
        if _sha256(content) != self.checksums[name]:
            raise CheckpointError(
                f"{self.folder / name} is damaged: its SHA-256 is not the one in {MANIFEST}; "
                f"copy the folder again."
            )
        return content

    def _bytes(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError as error:
            raise CheckpointError(
                f"{self.folder} is no checkpoint folder: {name} is missing."
            ) from error
        except OSError as error:
            raise CheckpointError(
                f"{self.folder / name} cannot be read: {error.strerror}."
            ) from error


def _config(reader: _Reader) -> TransformerConfig:
    path = reader.folder / CONFIG
    try:
        values: Any = json.loads(reader.read(CONFIG))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not JSON: copy the folder again.") from error
    try:
        if not isinstance(values, dict):
            raise ConfigError("the file holds no table.")
        return TransformerConfig.from_dict(values)
    except ConfigError as error:
        raise CheckpointError(f"{path} describes no model: {error}") from error


def _load_weights(model: Transformer, reader: _Reader) -> None:
    path = reader.folder / WEIGHTS
    try:
        weights: dict[str, Tensor] = safetensors.torch.load(reader.read(WEIGHTS))
    except safetensors.SafetensorError as error:
        raise CheckpointError(f"{path} is not a safetensors file: copy it again.") from error
    parameters = dict(model.named_parameters())
    if odd := sorted(set(parameters) ^ set(weights)):
        where = "lacks" if odd[0] in parameters else "has the unknown"
        raise CheckpointError(f"{path} {where} tensor '{odd[0]}': it belongs to another model.")
    for name, parameter in parameters.items():
        if weights[name].shape != parameter.shape:
            raise CheckpointError(
                f"{path}: '{name}' has shape {list(weights[name].shape)}, but {CONFIG} asks for "
                f"{list(parameter.shape)}."
            )
        parameter.data.copy_(weights[name])


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
