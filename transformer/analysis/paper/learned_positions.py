"""The learned positions of a model, read from the folder of its run (§3.5; Table 3, row E)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.torch
import torch

from transformer.errors import CheckpointError, unreadable
from transformer.files.reading import MIB, read_bytes

TABLE = "positions.safetensors"
"""The file in the folder of a run."""
MOST_BYTES = 256 * MIB


class LearnedPositions(NamedTuple):
    """The tables of a model with learned positions (Table 3, row E); `[max_length, d_model]`."""

    encoder: npt.NDArray[np.float32]
    decoder: npt.NDArray[np.float32]


def learned_positions(folder: Path) -> LearnedPositions:
    """Read the table of each stack from `positions.safetensors`.

    Raises:
        CheckpointError: naming the file and what is wrong with it.
    """
    path = folder / TABLE
    try:
        tensors = safetensors.torch.load(read_bytes(path, MOST_BYTES))
    except FileNotFoundError as error:
        raise CheckpointError(
            f"There are no learned positions: {path} is missing; copy the folder again."
        ) from error
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
    except (safetensors.SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise CheckpointError(f"{path} is not a safetensors file: copy it again.") from error
    for stack in LearnedPositions._fields:
        if stack not in tensors:
            raise CheckpointError(f"{path} lacks the table '{stack}': copy it again.")
        if tensors[stack].ndim != 2 or 0 in tensors[stack].shape or tensors[stack].shape[1] % 2:
            raise CheckpointError(
                f"{path}: '{stack}' has shape {list(tensors[stack].shape)}, but a table of "
                f"positions is [max_length, d_model] with an even d_model: copy it again."
            )
        if tensors[stack].dtype != torch.float32:
            raise CheckpointError(f"{path}: '{stack}' is no table of float32: copy it again.")
        if not tensors[stack].isfinite().all():
            raise CheckpointError(
                f"{path}: '{stack}' has values that are not finite: copy it again."
            )
    if tensors["encoder"].shape != tensors["decoder"].shape:
        raise CheckpointError(f"{path}: the two tables differ in shape: copy it again.")
    return LearnedPositions(*(tensors[stack].numpy() for stack in LearnedPositions._fields))
