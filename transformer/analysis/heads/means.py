"""Mean output of every head over a corpus, stored beside a checkpoint."""

import math
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, reading
from transformer.files.reading import read_bytes
from transformer.kinds import KINDS, Kind

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
    try:
        most = MAX_HEADER_BYTES + 4 * sum(map(math.prod, shapes.values()))
        with reading(path):
            stored = safetensors.torch.load(read_bytes(path, most))
    except (safetensors.SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise CheckpointError(f"{path} is not a safetensors file: {AGAIN}") from error
    if set(stored) != set(KINDS):
        raise CheckpointError(f"{path} does not hold {', '.join(KINDS)}: {AGAIN}")
    means: dict[Kind, Tensor] = {kind: stored[kind] for kind in KINDS}
    for kind, values in means.items():
        if values.dtype != torch.float32 or tuple(values.shape) != shapes[kind]:
            raise CheckpointError(
                f"{path}: '{kind}' is no float32 tensor of shape {list(shapes[kind])}: {AGAIN}"
            )
        if not bool(values.isfinite().all()):
            raise CheckpointError(f"{path}: '{kind}' holds what is no number: {AGAIN}")
    return means
