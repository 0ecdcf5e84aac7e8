"""The weights of a MarianMT folder as they are stored: in safetensors, or in a pickle."""

from __future__ import annotations

import hashlib
import math
import pickle
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import safetensors
import torch
from torch import Tensor

from transformer.checkpoints.marian.config import CONFIG
from transformer.errors import CheckpointError, quoted, unreadable
from transformer.files.reading import GIB, opened

SAFETENSORS, PICKLED = "model.safetensors", "pytorch_model.bin"
MOST_BYTES = 8 * GIB
_DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


@dataclass(frozen=True)
class Stored:
    """Stored tensors, each checked as it is asked for.

    Args:
        path: of the file.
        names: of its tensors.
        tensor: gives one of them.
    """

    path: Path
    names: frozenset[str]
    tensor: Callable[[str], Tensor]

    def get(self, *names: str, shape: tuple[int, ...]) -> Tensor:
        """Return the first of these tensors that is stored, in its stored type.

        Raises:
            CheckpointError: if none is there, or it has another shape, or numbers that are none.
        """
        name = next((one for one in names if one in self.names), None)
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
        if not all(math.isfinite(extreme) for extreme in tensor.aminmax()):
            raise CheckpointError(
                f"{self.path}: '{name}' has weights that are not finite: copy the folder again."
            )
        return tensor


def weights_path(folder: Path) -> Path:
    """Return the file of the weights: safetensors if there is one."""
    path = folder / SAFETENSORS
    return path if path.exists() else folder / PICKLED


@contextmanager
def stored_weights(folder: Path, digest: hashlib._Hash) -> Iterator[Stored]:
    """Open the weights, from safetensors if there are any; a context manager.

    Their checksum, which takes as long as all else, is computed meanwhile; it is part of `digest`
    at the end of the block.

    Raises:
        CheckpointError: if there are none, or the file cannot be read or is none of weights.
    """
    path = weights_path(folder)
    try:
        with opened(path, MOST_BYTES) as (file, _), ThreadPoolExecutor(1) as beside:
            checksum = beside.submit(hashlib.file_digest, file, "sha256")
            if path.name == SAFETENSORS:
                with _safetensors(path) as stored:
                    yield stored
            else:
                yield _pickled(path)
            digest.update(checksum.result().digest())
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{folder} has no weights: neither {SAFETENSORS} nor {PICKLED} is there."
        ) from error
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error


@contextmanager
def _safetensors(path: Path) -> Iterator[Stored]:
    """Tensors that are views of the mapped file."""
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
        _refuse_packed(path)
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # whatever a damaged pickle makes of its reader
        raise none_of_weights from error
    if not isinstance(loaded, dict) or not all(
        isinstance(name, str) and isinstance(value, Tensor) and value.layout == torch.strided
        for name, value in loaded.items()
    ):
        raise none_of_weights
    return Stored(path, frozenset(loaded), loaded.__getitem__)


def _refuse_packed(path: Path) -> None:
    """PyTorch packs nothing: a packed file could unpack to any size."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            if sum(one.file_size for one in packed.infolist()) > MOST_BYTES:
                raise pickle.UnpicklingError("it unpacks to more than weights can be")
