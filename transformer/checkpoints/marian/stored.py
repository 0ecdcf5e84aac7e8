"""The weights of a MarianMT folder as they are stored: in safetensors, or in a pickle."""

from __future__ import annotations

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
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import safetensors
import torch
from torch import Tensor

from transformer.checkpoints.marian.config import CONFIG
from transformer.errors import CheckpointError, quoted, unreadable
from transformer.files.reading import GIB, MIB, opened

SAFETENSORS, PICKLED = "model.safetensors", "pytorch_model.bin"
MOST_BYTES = 8 * GIB
MOST_BYTES_OF_PICKLE = 2 * MIB  # without the weights; that of twelve layers has some 60 kB
_DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)

# PyTorch allows more in files of weights: functions that make tensors of any size from nothing
_GLOBAL = re.compile(
    r"collections OrderedDict|torch\._utils _rebuild_(tensor_v2|parameter)"
    r"|torch (Float|Double|Half|BFloat16|Long|Int|Short|Char|Byte|Bool)Storage"
)


@dataclass(frozen=True)
class Stored:
    """Stored tensors, each checked as it is asked for.

    Args:
        path: of the file.
        names: of its tensors.
        tensor: gives one of them, a view of the mapped file.
    """

    path: Path
    names: frozenset[str]
    tensor: Callable[[str], Tensor]

    def view(self, *names: str, shape: tuple[int, ...]) -> Tensor:
        """Return the first of these tensors that is stored, in its stored type; nothing is read.

        Raises:
            CheckpointError: if none is there, or it has another shape or type.
        """
        name = next((stored for stored in names if stored in self.names), None)
        if name is None:
            raise CheckpointError(f"{self.path} lacks tensor '{names[0]}': copy the folder again.")
        tensor = self.tensor(name)
        if tuple(tensor.shape) != shape:
            raise CheckpointError(
                f"{self.path}: '{name}' has shape {quoted(list(tensor.shape))}, but {CONFIG} asks "
                f"for {list(shape)}."
            )
        if tensor.dtype not in _DTYPES:
            raise CheckpointError(
                f"{self.path}: '{name}' is stored as {str(tensor.dtype).removeprefix('torch.')}, "
                f"but weights are floating-point numbers."
            )
        return tensor

    def get(self, *names: str, shape: tuple[int, ...]) -> Tensor:
        """Return the same tensor once all of its numbers were checked.

        Raises:
            CheckpointError: as `view` does, or if a number is not finite.
        """
        tensor = self.view(*names, shape=shape)
        if not all(math.isfinite(extreme) for extreme in tensor.aminmax()):
            name = next(stored for stored in names if stored in self.names)
            raise CheckpointError(
                f"{self.path}: '{name}' has weights that are not finite: copy the folder again."
            )
        return tensor


def weights_path(folder: Path) -> Path:
    """Return the file of the weights: safetensors if there is one."""
    path = folder / SAFETENSORS
    return path if path.exists() else folder / PICKLED


@contextmanager
def stored_weights(
    folder: Path, at_most: int, check: Callable[[Stored], None], digest: hashlib._Hash
) -> Iterator[Stored]:
    """Open the weights, from safetensors if there are any; a context manager.

    Their checksum, which takes as long as all else, is computed meanwhile; it is part of `digest`
    at the end of the block.

    Args:
        folder: a MarianMT folder.
        at_most: bytes that the file may have.
        check: refuses names, shapes and types before any weight is read.
        digest: the checksum of the files that were read before.

    Raises:
        CheckpointError: if there are none, or the file cannot be read or is none of weights.
    """
    path = weights_path(folder)
    try:
        with opened(path, min(at_most, MOST_BYTES)) as (file, _), _mapped(path) as stored:
            check(stored)
            with ThreadPoolExecutor(1) as beside:
                checksum = beside.submit(hashlib.file_digest, file, "sha256")
                yield stored
                digest.update(checksum.result().digest())
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{folder} has no weights: neither {SAFETENSORS} nor {PICKLED} is there."
        ) from error
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error


@contextmanager
def _mapped(path: Path) -> Iterator[Stored]:
    """Map the tensors of the file, which is read as they are used."""
    if path.name == PICKLED:
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
    """All tensors of the file, and nothing that a pickle could run."""
    none_of_weights = CheckpointError(
        f"{path} is not a file of weights alone: copy it again, or take {SAFETENSORS}."
    )
    try:
        zipped = zipfile.is_zipfile(path)
        with path.open("rb") as file:
            if zipped:
                _check_archive(file)
            else:  # of before PyTorch 1.6: four pickles, and the numbers of the storages
                _check_pickles(io.BytesIO(file.read(MOST_BYTES_OF_PICKLE)), 5)
        loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=zipped)
    except OSError:
        raise
    except Exception as error:  # whatever a damaged pickle makes of its reader
        raise none_of_weights from error
    if not isinstance(loaded, dict) or not all(
        isinstance(name, str) and isinstance(value, Tensor) and _is_in_file(value)
        for name, value in loaded.items()
    ):
        raise none_of_weights
    return Stored(path, frozenset(loaded), loaded.__getitem__)


def _is_in_file(tensor: Tensor) -> bool:
    """Return whether each number is stored: not on `meta`, and none repeated."""
    dense = tensor.layout == torch.strided and tensor.device.type == "cpu"
    return dense and tensor.is_contiguous()


def _check_archive(file: IO[bytes]) -> None:
    """Raise unless nothing is packed, as PyTorch never does: it could unpack to any size."""
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_STORED:
                raise pickle.UnpicklingError(f"{member.filename} is packed")
            if member.filename.endswith(".pkl"):
                with archive.open(member) as pickled:
                    _check_pickles(io.BytesIO(pickled.read(MOST_BYTES_OF_PICKLE)), 1)


def _check_pickles(pickles: IO[bytes], count: int) -> None:
    """Raise unless these are whole pickles that name nothing but tensors; nothing is made."""
    for _ in range(count):
        for opcode, argument, _position in pickletools.genops(pickles):
            if "GLOBAL" in opcode.name and not _GLOBAL.fullmatch(str(argument)):
                raise pickle.UnpicklingError(f"{argument} makes no weights")
