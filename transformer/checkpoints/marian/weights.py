"""The weights of a MarianMT folder: how they are stored, and which of our parameters each is."""

import hashlib
import io
import math
import pickle
import pickletools
import re
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import safetensors
import torch
from torch import Tensor

from transformer import embedding
from transformer.checkpoints.checkpoint import DTYPES, is_finite, require_form
from transformer.checkpoints.marian.config import MarianConfig
from transformer.checkpoints.marian.tokenizer import MarianVocabulary
from transformer.config import BOS, TransformerConfig
from transformer.errors import CheckpointError, reading
from transformer.files.reading import GIB, MIB, open_bounded
from transformer.shapes import Shape, parameter_shapes

SAFETENSORS, PICKLED = "model.safetensors", "pytorch_model.bin"
MAX_BYTES = 8 * GIB
MAX_PICKLE_BYTES = 2 * MIB  # without the weights; that of twelve layers has some 60 kB
_DTYPES = (*DTYPES, torch.float64)

# PyTorch allows more in files of weights: functions that make tensors of any size from nothing
_GLOBAL = re.compile(
    r"collections OrderedDict|torch\._utils _rebuild_(tensor_v2|parameter)"
    r"|torch (Float|Double|Half|BFloat16|Long|Int|Short|Char|Byte|Bool)Storage"
)
MAX_HEADER_BYTES = 8 * MIB  # names and shapes of the tensors, in either format
_ROUNDING = 2**-8  # twice bfloat16's of a position, which is at most 1; float16's is smaller
_NEVER = -1e9  # an output bias with which a piece has no probability at all

_NAMES = {
    "self_attention.": "self_attn.",
    "cross_attention.": "encoder_attn.",
    "self_attention_norm.norm.": "self_attn_layer_norm.",
    "cross_attention_norm.norm.": "encoder_attn_layer_norm.",
    "feed_forward_norm.norm.": "final_layer_norm.",
    "feed_forward.W_1.": "fc1.",
    "feed_forward.W_2.": "fc2.",
    "W_Q.": "q_proj.",
    "W_K.": "k_proj.",
    "W_V.": "v_proj.",
    "W_O.": "out_proj.",
}


@dataclass(frozen=True)
class Stored:
    """Stored tensors, each checked as it is asked for."""

    path: Path
    names: frozenset[str]
    tensor: Callable[[str], Tensor]

    def view(self, *names: str, shape: tuple[int, ...]) -> Tensor:
        """Return the first of these tensors that is stored, in its stored type; nothing is read."""
        name = next((stored for stored in names if stored in self.names), None)
        if name is None:
            raise CheckpointError(f"{self.path} lacks tensor '{names[0]}': copy the folder again.")
        tensor = self.tensor(name)
        require_form(self.path, name, tensor, shape, _DTYPES)
        return tensor

    def get(self, *names: str, shape: tuple[int, ...]) -> Tensor:
        """Return the same tensor once all of its numbers were checked."""
        tensor = self.view(*names, shape=shape)
        if not is_finite(tensor):
            name = next(stored for stored in names if stored in self.names)
            raise CheckpointError(
                f"{self.path}: '{name}' has weights that are not finite: copy the folder again."
            )
        return tensor


def weights_file(folder: Path) -> Path:
    """Return the file of the weights: safetensors if there is one."""
    path = folder / SAFETENSORS
    return path if path.exists() else folder / PICKLED


@contextmanager
def stored_weights(
    folder: Path, ours: TransformerConfig, config: MarianConfig, digest: "hashlib._Hash"
) -> Iterator[Stored]:
    """Open the weights, in safetensors if there are any; a context manager.

    Names, shapes and types are compared with the configuration before any weight is read. The
    checksum, which takes as long as all else, is computed meanwhile; it is part of `digest` at the
    end of the block.
    """
    path = weights_file(folder)
    # at most float64, and the embedding under four names
    numbers = sum(math.prod(shape) for _, _, shape in _stored_shapes(ours, config))
    numbers += 3 * config.target_rows * ours.d_model
    most = min(MAX_HEADER_BYTES + 8 * numbers, MAX_BYTES)
    missing = f"{folder} has no weights: neither {SAFETENSORS} nor {PICKLED} is there."
    with (
        reading(path, missing=missing),
        open_bounded(path, most) as (file, _),
        _mapped(path) as stored,
    ):
        for name, names, asked_shape in _stored_shapes(ours, config):
            optional = name == "output_bias" or name.endswith("embedding.positions")
            if not optional or names[0] in stored.names:
                stored.view(*names, shape=asked_shape)
        with ThreadPoolExecutor(1) as beside:
            checksum = beside.submit(hashlib.file_digest, file, "sha256")
            yield stored
            digest.update(checksum.result().digest())


@contextmanager
def _mapped(path: Path) -> Iterator[Stored]:
    """Map the tensors of the file, which is read as they are used."""
    if path.suffix == Path(PICKLED).suffix:
        yield _pickled(path)
        return
    try:
        file = safetensors.safe_open(path, framework="pt")
    except safetensors.SafetensorError as error:
        raise CheckpointError(f"{path} is not a safetensors file: copy it again.") from error
    with file:
        names: list[str] = file.keys()  # type: ignore[no-untyped-call]
        yield Stored(path, frozenset(names), file.get_tensor)


def _pickled(path: Path) -> Stored:
    """Load all tensors of a pickle, without running any code that it names."""
    none_of_weights = CheckpointError(
        f"{path} is not a file of weights alone: copy it again, or take {SAFETENSORS}."
    )
    try:
        zipped = zipfile.is_zipfile(path)
        with path.open("rb") as file:
            if zipped:
                _check_archive(file)
            else:  # of before PyTorch 1.6: four pickles, and the numbers of the storages
                _check_pickles(io.BytesIO(file.read(MAX_PICKLE_BYTES)), 5)
        loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=zipped)
    except OSError:
        raise
    except Exception as error:  # whatever a damaged pickle makes of its reader
        raise none_of_weights from error
    if not isinstance(loaded, dict) or not all(
        isinstance(name, str)
        and isinstance(value, Tensor)
        # each number is stored: not on `meta`, and none repeated
        and (value.layout, value.device.type) == (torch.strided, "cpu")
        and value.is_contiguous()
        for name, value in loaded.items()
    ):
        raise none_of_weights
    return Stored(path, frozenset(loaded), loaded.__getitem__)


def _check_archive(file: IO[bytes]) -> None:
    """Raise unless nothing is packed, as PyTorch never does: it could unpack to any size."""
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_STORED:
                raise pickle.UnpicklingError(f"{member.filename} is packed")
            if member.filename.endswith(".pkl"):
                with archive.open(member) as pickled:
                    _check_pickles(io.BytesIO(pickled.read(MAX_PICKLE_BYTES)), 1)


def _check_pickles(pickles: IO[bytes], count: int) -> None:
    """Raise unless these are whole pickles that name nothing but tensors; nothing is made."""
    for _ in range(count):
        for opcode, argument, _position in pickletools.genops(pickles):
            if "GLOBAL" in opcode.name and not _GLOBAL.fullmatch(str(argument)):
                raise pickle.UnpicklingError(f"{argument} makes no weights")


@torch.no_grad()
def parameters(
    ours: TransformerConfig,
    stored: Stored,
    config: MarianConfig,
    source: MarianVocabulary,
    target: MarianVocabulary,
) -> Iterator[tuple[str, Tensor]]:
    """Yield each parameter of our model with its name, in the type in which it is stored."""
    for name, shape in parameter_shapes(ours):
        if name == "shared_embedding":
            yield name, _target_embedding(stored, config, target)
        elif name in ("source_embedding", "own_projection"):
            names, rows = _stored_as(name, shape, config)
            side = source if name == "source_embedding" else target
            ordered = side.in_our_order(stored.get(*names, shape=rows), config.path)
            yield name, halves_to_pairs(ordered, axis=1)
        elif name == "output_bias":
            yield name, _output_bias(stored, config, target)
        else:
            tensor, axis = stored.get(_marian_name(name), shape=shape), _axis_of_d_model(name)
            yield name, tensor.clone() if axis is None else halves_to_pairs(tensor, axis)


def halves_to_pairs(x: Tensor, axis: int) -> Tensor:
    """Reorder an axis of d_model: sine and cosine of one frequency become neighbours."""
    halves: Tensor = x.unflatten(axis, (2, -1))
    return halves.transpose(axis, axis + 1).flatten(axis, axis + 1)


def stored_positions(stored: Stored, config: MarianConfig, stack: str) -> Tensor | None:
    """Read the stored positions of a stack in our order, `[position, d_model]`; None if absent."""
    table = config.number("max_position_embeddings"), config.number("d_model")
    (name,), shape = _stored_as(f"{stack}.embedding.positions", table, config)
    if name not in stored.names:
        return None
    positions = halves_to_pairs(stored.get(name, shape=shape), axis=1)
    if (positions.float() - embedding.sinusoidal_positions(*shape)).abs().max() > _ROUNDING:
        raise CheckpointError(
            f"{stored.path}: '{name}' are not the formula's positions: only models with these, as "
            f"MarianMT has them, can be read."
        )
    return positions


def _marian_name(name: str) -> str:
    for ours, marians in _NAMES.items():
        name = name.replace(ours, marians)
    return f"model.{name}"


def _axis_of_d_model(name: str) -> int | None:
    """Return the axis of a parameter with the size d_model, or None. `name` is ours."""
    module, parameter = name.split(".")[-2:]
    if module in ("W_O", "W_2", "norm"):
        return 0  # what it writes
    return 1 if parameter == "weight" else None  # what it reads


def _stored_shapes(
    ours: TransformerConfig, config: MarianConfig
) -> Iterator[tuple[str, tuple[str, ...], Shape]]:
    """Yield each of our parameters, the names under which it may be stored, and its shape there."""
    for name, shape in parameter_shapes(replace(ours, positions="learned")):
        yield name, *_stored_as(name, shape, config)


def _stored_as(name: str, shape: Shape, config: MarianConfig) -> tuple[tuple[str, ...], Shape]:
    """Return the names under which a parameter of ours may be stored, with its shape there."""
    if name == "shared_embedding":
        projection = ("lm_head.weight",) if config.tied else ()
        return (*_tables("decoder", config), *projection), (config.target_rows, shape[-1])
    if name == "own_projection":
        return ("lm_head.weight",), (config.target_rows, shape[-1])
    if name == "source_embedding":
        return _tables("encoder", config), (config.number("vocab_size"), shape[-1])
    if name == "output_bias":
        return ("final_logits_bias",), (1, config.target_rows)
    if name.endswith("embedding.positions"):
        return (f"model.{name.partition('.')[0]}.embed_positions.weight",), shape
    return (_marian_name(name),), shape


def _tables(stack: str, config: MarianConfig) -> tuple[str, ...]:
    """Return the names under which the embedding of a stack may be stored."""
    own = f"model.{stack}.embed_tokens.weight"
    if not config.shares:
        return (own,)
    if not config.tied:  # then `transformers` reads the shared one for neither, where both are
        return (own, "model.shared.weight")
    both = (f"model.{name}.embed_tokens.weight" for name in ("encoder", "decoder"))
    return ("model.shared.weight", *both)


def _target_embedding(stored: Stored, config: MarianConfig, target: MarianVocabulary) -> Tensor:
    names, shape = _stored_as("shared_embedding", (config.number("d_model"),), config)
    table = stored.get(*names, shape=shape)
    first, *copies = (name for name in names if name in stored.names)
    for name in copies:
        if config.tied and not torch.equal(stored.view(name, shape=shape), table):
            raise CheckpointError(
                f"{stored.path}: '{name}' is another matrix than '{first}', but {config.path} says "
                f"that they are one: write tie_word_embeddings = false there."
            )
    ordered = target.in_our_order(table, config.path)
    start = config.number("decoder_start_token_id")
    if start >= len(table):
        raise CheckpointError(
            f"{config.path} says decoder_start_token_id = {start:,}, but there are "
            f"{len(table):,} pieces."
        )
    ordered[BOS] = table[start]
    return halves_to_pairs(ordered, axis=1)


def _output_bias(stored: Stored, config: MarianConfig, target: MarianVocabulary) -> Tensor:
    (name,), shape = _stored_as("output_bias", (), config)
    bias = stored.get(name, shape=shape)[0] if name in stored.names else torch.zeros(shape[1])
    ours = target.in_our_order(bias, config.path).float()
    if target.numbers.get("<s>") != config.number("decoder_start_token_id"):
        ours[BOS] = _NEVER  # Marian begins with another piece, mostly `<pad>`, which is there, too
    return ours
