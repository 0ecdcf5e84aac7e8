"""The checkpoint folder: weights, configuration, tokenizer, and their checksums. Never pickle."""

import errno
import hashlib
import json
import math
import os
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from transformer import errors
from transformer.checkpoints.other_files import advice
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, ConfigError, quoted
from transformer.files import atomic, reading
from transformer.files.documents import DocumentError, parse_json
from transformer.model import Transformer
from transformer.shapes import Shape, number_of_parameters, parameter_shapes, refuse_too_large
from transformer.text import tokenizer as tokenizers
from transformer.text.languages import LANGUAGES, OURS, Languages
from transformer.text.tokenizer import Tokenizer

FORMAT = 1
WEIGHTS, CONFIG, TOKENIZER, MANIFEST = (
    "model.safetensors",
    "config.json",
    "tokenizer.model",
    "MANIFEST.json",
)
REQUIRED = (WEIGHTS, CONFIG, TOKENIZER)

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
"""Types of stored weights; loading turns each into float32, exactly."""

MAX_JSON_BYTES = reading.MIB
MAX_HEADER_BYTES = 8 * reading.MIB  # of the weights; 256 layers have about 1 MiB
MAX_OTHER_BYTES = 256 * reading.MIB  # model card, run log


@dataclass(frozen=True)
class Checkpoint:
    """A model, its tokenizer, and the folder they came from."""

    model: Transformer
    tokenizer: Tokenizer
    folder: Path
    checksum: str  # of the manifest: two folders with one checksum hold one model
    target_tokenizer: Tokenizer | None = None  # unless it is the same
    languages: Languages = OURS


def save(
    folder: Path,
    model: Transformer,
    tokenizer: Tokenizer,
    *,
    languages: Languages = OURS,
    dtype: torch.dtype = torch.float32,
    extra: dict[str, str] | None = None,
) -> None:
    """Write a checkpoint folder; loading gives float32 whatever `dtype` is on disk.

    A checkpoint that is there already is replaced atomically, if each of its files is as it was
    written and has a successor. `extra` are further text files by name, such as a model card; they
    get a checksum too.
    """
    extra = extra or {}
    with atomic.replace_folder(folder, partial(refusal, extra=extra)) as new:
        weights = {name: p.detach().to("cpu", dtype) for name, p in model.named_parameters()}
        for name, weight in weights.items():
            if not is_finite(weight):
                raise CheckpointError(
                    f"'{name}' has weights that are not finite as {str(dtype).partition('.')[2]}: "
                    f"{folder} was not written."
                )
        files = {
            WEIGHTS: safetensors.torch.save({n: w.contiguous() for n, w in weights.items()}),
            CONFIG: (json.dumps(model.config.to_dict(), indent=2) + "\n").encode(),
            TOKENIZER: tokenizer.model,
            **{name: text.encode() for name, text in extra.items()},
        }
        checksums = {name: _sha256(content) for name, content in sorted(files.items())}
        manifest = {"format": FORMAT, "sha256": checksums, **languages.record()}
        files[MANIFEST] = (json.dumps(manifest, indent=2) + "\n").encode()
        for name, content in files.items():
            (new / name).write_bytes(content)


def refusal(folder: Path, extra: Collection[str] = ()) -> str:
    """Return one sentence on why a folder may not be replaced; empty if it may.

    It may if it is missing or empty, or holds nothing but what `save` wrote, with `extra`. Files
    that were measured of the checkpoint and stored beside it are not among them: its successor has
    none, and they take hours.

    Raises:
        OSError: if the folder cannot be read, or is read-only.
    """
    if not atomic.why_occupied(folder):
        return ""
    foreign = f"{folder} is there and is not a checkpoint: choose another folder."
    if folder.is_symlink() or not folder.is_dir():
        return foreign
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    try:
        reader = _Reader(folder)
        known = parse_json(reader.manifest_text).keys() - {LANGUAGES} == {"format", "sha256"}
    except (CheckpointError, ValueError):
        known = False
    if not known:
        return foreign
    ours: dict[str, str | None] = {MANIFEST: None}
    ours |= {n: reader.checksums[n] for n in {*REQUIRED, *extra} & reader.checksums.keys()}
    for path in sorted(folder.iterdir()):
        if path.name not in ours or not atomic.has_content(path, ours[path.name]):
            return (
                f"{folder} is there, and {quoted(path.name)} in it would be lost: move that away, "
                f"or choose another folder."
            )
    return ""


def remove(folder: Path) -> None:
    """Remove a checkpoint that is as `save` wrote it; another one stays."""
    if not refusal(folder):
        shutil.rmtree(folder, ignore_errors=True)


@torch.inference_mode(mode=False)  # tensors of that mode do not know when they are changed
def load(folder: Path) -> Checkpoint:
    """Read a checkpoint folder and verify every checksum; the model is in evaluation mode.

    The weights are float32 whatever they were stored as. Before anything is built, sizes, names,
    shapes and types of what is stored are compared with the configuration.
    """
    reader = _Reader(folder)
    for name in reader.checksums.keys() - set(REQUIRED):  # such as a card and a run log
        reader.read(name, MAX_OTHER_BYTES)
    tokenizer = Tokenizer(reader.read(TOKENIZER, tokenizers.MAX_BYTES))
    config = _config(reader)
    if config.vocab_size != tokenizer.vocab_size:
        raise CheckpointError(
            f"{folder / CONFIG} says vocab_size = {config.vocab_size}, but {TOKENIZER} has "
            f"{tokenizer.vocab_size} pieces: they belong to different models."
        )
    if config.source_vocab_size is not None:
        raise CheckpointError(
            f"{folder / CONFIG} says source_vocab_size = {config.source_vocab_size}, but a "
            f"Headlight checkpoint has one vocabulary for both languages: take this line out."
        )
    weights = _weights(reader, config)
    model = Transformer.unfilled(config)
    model.fill(weights.items())
    checksum = _sha256(reader.manifest_text)
    return Checkpoint(model.eval(), tokenizer, folder, checksum, languages=reader.languages)


def read_languages(folder: Path) -> Languages:
    """Read the languages of a checkpoint folder, and nothing else of it."""
    return _Reader(folder).languages


class _Reader:
    """Reads files of one folder and verifies them by the checksums of its manifest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Path.is_dir() raises on a name that is too long
        if not os.path.isdir(folder):  # noqa: PTH112
            raise CheckpointError(advice(folder, f"There is no checkpoint folder {folder}."))
        self.manifest_text = self._bytes(MANIFEST, MAX_JSON_BYTES)
        try:
            manifest = parse_json(self.manifest_text)
            format_, checksums = manifest["format"], {**manifest["sha256"]}
            self.languages = Languages.from_record(manifest)
        except (ValueError, TypeError, KeyError) as error:
            raise CheckpointError(
                f"{self.folder / MANIFEST} is not a Headlight manifest: copy the folder again."
            ) from error
        if format_ != FORMAT:
            raise CheckpointError(
                f"{self.folder / MANIFEST} says format {quoted(format_)}, but this program reads "
                f"format {FORMAT}."
            )
        if missing := [name for name in REQUIRED if name not in checksums]:
            raise CheckpointError(f"{self.folder / MANIFEST} does not list {missing[0]}.")
        for name in checksums:
            if name in (".", "..", "") or {"/", os.sep} & set(name):
                raise CheckpointError(
                    f"{self.folder / MANIFEST} lists {quoted(name)}, which is not a file of the "
                    f"folder: copy the folder again."
                )
        self.checksums: dict[str, str] = checksums

    def read(self, name: str, at_most: int) -> bytes:
        """Read a file of at most `at_most` bytes, and check its checksum."""
        content = self._bytes(name, at_most)
        if _sha256(content) != self.checksums[name]:
            raise CheckpointError(
                f"{self.folder / name} is damaged: its SHA-256 is not the one in {MANIFEST}; "
                f"copy the folder again."
            )
        return content

    def _bytes(self, name: str, at_most: int) -> bytes:
        """Read a file, with what the system says of it as our error."""
        path = self.folder / name
        with errors.reading(path):
            try:
                return reading.read_bytes(path, at_most)
            except FileNotFoundError as error:
                missing = f"{self.folder} is not a checkpoint folder: {name} is missing."
                raise CheckpointError(advice(self.folder, missing)) from error


def _config(reader: _Reader) -> TransformerConfig:
    path = reader.folder / CONFIG
    try:
        config = TransformerConfig.from_dict(parse_json(reader.read(CONFIG, MAX_JSON_BYTES)))
        refuse_too_large(config)
    except DocumentError as error:
        raise CheckpointError(f"{path} {error}: copy the folder again.") from error
    except ConfigError as error:
        raise CheckpointError(f"{path} describes no model: {error}") from error
    return config


def _weights(reader: _Reader, config: TransformerConfig) -> dict[str, Tensor]:
    """Read the stored weights by name: those of the configuration, all of them finite."""
    path = reader.folder / WEIGHTS
    at_most = MAX_HEADER_BYTES + 4 * number_of_parameters(config)
    try:
        stored = safetensors.torch.load(reader.read(WEIGHTS, at_most))
    except (safetensors.SafetensorError, KeyError) as error:  # or a type that torch has not
        raise CheckpointError(f"{path} is not a safetensors file: copy it again.") from error
    weights = {}
    for name, shape in parameter_shapes(config):
        if name not in stored:
            raise CheckpointError(f"{path} lacks tensor '{name}': it belongs to another model.")
        weights[name] = stored.pop(name)
        require_form(path, name, weights[name], shape, DTYPES)
        if not is_finite(weights[name]):
            raise CheckpointError(
                f"{path}: '{name}' has weights that are not finite: copy the folder again, or "
                f"train from an earlier checkpoint."
            )
    if stored:
        raise CheckpointError(
            f"{path} has the unknown tensor '{min(stored)}': it belongs to another model."
        )
    return weights


def require_form(
    path: Path, name: str, tensor: Tensor, shape: Shape, dtypes: Collection[torch.dtype]
) -> None:
    """Raise CheckpointError unless a stored tensor has this shape and one of these types."""
    if tuple(tensor.shape) != shape:
        raise CheckpointError(
            f"{path}: '{name}' has shape {quoted([*tensor.shape])}, but {CONFIG} asks for "
            f"{list(shape)}."
        )
    if tensor.dtype not in dtypes:
        stored, *known = (str(dtype).removeprefix("torch.") for dtype in (tensor.dtype, *dtypes))
        raise CheckpointError(
            f"{path}: '{name}' is stored as {stored}, but weights are {', '.join(known)}: save it "
            f"as one of these."
        )


def is_finite(tensor: Tensor) -> bool:
    """Return whether all numbers are finite; ten times faster than isfinite()."""
    return all(math.isfinite(extreme) for extreme in tensor.aminmax())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
