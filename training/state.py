"""What a run needs to go on as if nothing had happened: safetensors and JSON, never pickle."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, nn

from transformer.errors import CheckpointError

TENSORS, PLACE = "state.safetensors", "state.json"


@dataclass(frozen=True)
class Place:
    """How far a run has come.

    Args:
        step: updates made.
        epoch: the epoch it is in, from 0.
        batch: micro-batches of that epoch that are done.
        seconds: time spent so far.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0


def save_state(
    folder: Path, place: Place, model: nn.Module, optimizer: torch.optim.Optimizer, config: Any
) -> None:
    """Write weights, optimiser, random state and place; what was there stays until it is done."""
    new, old = folder.with_name(folder.name + ".new"), folder.with_name(folder.name + ".before")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    safetensors.torch.save_file(_tensors(model, optimizer), new / TENSORS)
    (new / PLACE).write_text(json.dumps({"place": asdict(place), "config": config}), "utf-8")
    for name in (TENSORS, PLACE):
        with (new / name).open("rb") as file:
            os.fsync(file.fileno())
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)


def load_state(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, config: Any
) -> Place:
    """Put weights, optimiser and random state back.

    Raises:
        CheckpointError: if there is nothing to resume, it is damaged, or the configuration changed.
    """
    try:
        written = json.loads((folder / PLACE).read_text("utf-8"))
        tensors = safetensors.torch.load_file(folder / TENSORS)
        place = Place(**written["place"])
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{folder.parent} holds no run to resume: leave --resume away."
        ) from error
    except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{folder} is damaged: {error}.") from error
    for table, fields in config.items():
        for name, value in fields.items():
            before = written["config"].get(table, {}).get(name)
            if before != value and name != "steps":
                raise CheckpointError(
                    f"[{table}] {name} was {before!r} when the run began and is {value!r} now: "
                    f"resume with what it began with, or start a new run."
                )
    _restore(tensors, model, optimizer)
    return place


def _tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    tensors = {"random.cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    for name, parameter in model.named_parameters():
        tensors[f"model.{name}"] = parameter.detach().contiguous()
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{key}.{name}"] = value.contiguous()
    return tensors


@torch.no_grad()
def _restore(
    tensors: dict[str, Tensor], model: nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    torch.set_rng_state(tensors["random.cpu"])
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])
    for name, parameter in model.named_parameters():
        parameter.copy_(tensors[f"model.{name}"])
        state = {
            key: tensors[f"optimizer.{key}.{name}"].to(parameter.device if key != "step" else "cpu")
            for key in ("step", "exp_avg", "exp_avg_sq")
            if f"optimizer.{key}.{name}" in tensors
        }
        if state:
            optimizer.state[parameter] = state
