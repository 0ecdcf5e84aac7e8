"""Mean output of every head over a corpus, stored beside a checkpoint."""

import math
from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, reading
from transformer.files.reading import read_bytes
from transformer.kinds import KINDS, Kind

T = TypeVar("T", bound=str)

FILE = "head_means.safetensors"
COMMAND = "headlight evaluate heads"
AGAIN = f"run {COMMAND} again."
MAX_HEADER_BYTES = 2**16


def read_means(folder: Path, config: TransformerConfig) -> dict[Kind, Tensor] | None:
    """Read the mean z of each head over a corpus, `[layer, head, d_v]`; None without a file."""
    path = folder / FILE
    if not path.exists():
        return None
    stacks = {kind: config.stack(kind) for kind in KINDS}
    shapes = {kind: (stack.N, stack.h, stack.d_v) for kind, stack in stacks.items()}
    most = MAX_HEADER_BYTES + 4 * sum(map(math.prod, shapes.values()))
    means = read_tables(path, KINDS, most, AGAIN)
    for kind, values in means.items():
        if tuple(values.shape) != shapes[kind]:
            raise CheckpointError(
                f"{path}: '{kind}' has not the shape {list(shapes[kind])}: {AGAIN}"
            )
    return means


def read_tables(path: Path, names: Collection[T], most: int, advice: str) -> dict[T, Tensor]:
    """Read tensors of these names, float32 and finite, from a file of at most `most` bytes."""
    try:
        with reading(path):
            tensors = safetensors.torch.load(read_bytes(path, most))
    except (safetensors.SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise CheckpointError(f"{path} is not a safetensors file: {advice}") from error
    if missing := [name for name in names if name not in tensors]:
        raise CheckpointError(f"{path} lacks the table '{missing[0]}': {advice}")
    for name in names:
        if tensors[name].dtype != torch.float32 or not tensors[name].isfinite().all():
            raise CheckpointError(f"{path}: '{name}' is not a table of finite float32: {advice}")
    return {name: tensors[name] for name in names}
