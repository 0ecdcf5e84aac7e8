"""The average of the weights of the last checkpoints (§6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from transformer import checkpoint
from transformer.checkpoint import Checkpoint
from transformer.errors import CheckpointError


@torch.no_grad()
def average(folders: Sequence[Path]) -> Checkpoint:
    """One checkpoint whose weights are the mean of those in these folders.

    Sums in float64, so that the order of the folders does not matter.

    Raises:
        CheckpointError: if there are none, or they hold models of different shapes.
    """
    if not folders:
        raise CheckpointError("There are no checkpoints to average: let the run save one first.")
    first = checkpoint.load(folders[0])
    sums = {name: p.double() for name, p in first.model.named_parameters()}
    for folder in folders[1:]:
        other = checkpoint.load(folder)
        if (
            other.model.config != first.model.config
            or other.tokenizer.model != first.tokenizer.model
        ):
            raise CheckpointError(f"{folder} holds another model than {folders[0]}.")
        for name, parameter in other.model.named_parameters():
            sums[name] += parameter
    for name, parameter in first.model.named_parameters():
        parameter.copy_(sums[name] / len(folders))
    return first
