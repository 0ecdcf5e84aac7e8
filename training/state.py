"""What a run needs to go on as if nothing had happened: safetensors and JSON, never pickle."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor, distributed, nn
from torch.optim import Optimizer

from training.devices import Placement
from transformer.atomic import before, replace_folder
from transformer.errors import CheckpointError

TENSORS, PLACE = "state.safetensors", "state.json"
MAY_CHANGE = ("steps", "cooldown")  # a run may be made longer, and be brought to its end


@dataclass(frozen=True)
class Place:
    """How far a run has come.

    Args:
        step: updates made.
        epoch: the epoch it is in, from 0.
        batch: micro-batches of that epoch that are done.
        seconds: time spent on steps so far.
        best_loss: lowest validation loss yet; None before the first validation.
        without_gain: validations since then.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best_loss: float | None = None
    without_gain: int = 0


def has_state(folder: Path) -> bool:
    """Whether a run got as far as saving its state there."""
    return folder.exists() or before(folder).exists()


def save_state(
    folder: Path,
    place: Place,
    model: nn.Module,
    optimizer: Optimizer,
    config: Mapping[str, Mapping[str, Any]],
    placement: Placement,
) -> None:
    """Write weights, optimiser, random states and place; the state before is kept beside it.

    Every process calls it, for its own random state; the first one writes.
    """
    random_states = _gather_random_states(placement)
    if not placement.leads:
        return
    tensors = safetensors.torch.save({**_tensors(model, optimizer), **random_states})
    written = {
        "place": asdict(place),
        "config": config,
        "random": _python_and_numpy(),
        "sha256": hashlib.sha256(tensors).hexdigest(),
    }
    with replace_folder(folder, keep_before=True) as new:
        (new / TENSORS).write_bytes(tensors)
        (new / PLACE).write_text(json.dumps(written), "utf-8")


def load_state(
    folder: Path,
    model: nn.Module,
    optimizer: Optimizer,
    config: Mapping[str, Mapping[str, Any]],
    placement: Placement,
) -> tuple[Place, str]:
    """Put weights, optimiser and random states back.

    Returns:
        The place, and a sentence to tell when the last state was damaged and the one before
        it was taken; empty otherwise.

    Raises:
        CheckpointError: if both states are damaged, or the configuration changed.
    """
    warning = ""
    try:
        written, tensors = _read(folder)
    except CheckpointError as error:
        try:
            written, tensors = _read(before(folder))
        except CheckpointError as older:
            raise CheckpointError(f"{error} {older} Start a new run.") from older
        warning = f"{error} The state before it is whole: going on from there."
    _refuse_changes(written["config"], config)
    _restore(tensors, model, optimizer)
    torch.set_rng_state(tensors[f"random.{placement.rank}.cpu"])
    if placement.device.type == "cuda":
        torch.cuda.set_rng_state(tensors[f"random.{placement.rank}.cuda"])
    _restore_python_and_numpy(written["random"])
    return Place(**written["place"]), warning


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        written = json.loads((folder / PLACE).read_text("utf-8"))
        content = (folder / TENSORS).read_bytes()
        if hashlib.sha256(content).hexdigest() != written["sha256"]:
            raise CheckpointError(f"{folder / TENSORS} is damaged: its SHA-256 is wrong.")
        return written, safetensors.torch.load(content)
    except OSError as error:
        raise CheckpointError(f"{error.filename} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{folder / PLACE} is damaged.") from error


def _refuse_changes(
    then: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> None:
    for table, fields in now.items():
        for name, value in fields.items():
            if name not in MAY_CHANGE and then.get(table, {}).get(name) != value:
                raise CheckpointError(
                    f"[{table}] {name} was {then.get(table, {}).get(name)!r} when the run began "
                    f"and is {value!r} now: resume with what it began with, or start a new run."
                )


def _tensors(model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for name, parameter in model.named_parameters():
        tensors[f"model.{name}"] = parameter.detach().contiguous()
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{key}.{name}"] = value.contiguous()
    return tensors


@torch.no_grad()
def _restore(tensors: dict[str, Tensor], model: nn.Module, optimizer: Optimizer) -> None:
    for name, parameter in model.named_parameters():
        parameter.copy_(tensors[f"model.{name}"])
        optimizer.state[parameter] = {
            key: tensors[f"optimizer.{key}.{name}"].to(parameter.device)
            for key in ("step", "exp_avg", "exp_avg_sq")
            if f"optimizer.{key}.{name}" in tensors
        }


def _gather_random_states(placement: Placement) -> dict[str, Tensor]:
    """The state of torch's generators in each process, by rank."""
    mine = {f"random.{placement.rank}.cpu": torch.get_rng_state()}
    if placement.device.type == "cuda":
        mine[f"random.{placement.rank}.cuda"] = torch.cuda.get_rng_state()
    if placement.world == 1:
        return mine
    all_: list[dict[str, Tensor]] = [{}] * placement.world
    distributed.all_gather_object(all_, mine)
    return {name: state for states in all_ for name, state in states.items()}


def _python_and_numpy() -> dict[str, Any]:
    kind, keys, position, has_gauss, gauss = np.random.get_state()  # noqa: NPY002
    return {
        "python": random.getstate(),
        "numpy": [kind, np.asarray(keys).tolist(), position, has_gauss, gauss],
    }


def _restore_python_and_numpy(states: dict[str, Any]) -> None:
    version, internal, gauss = states["python"]
    random.setstate((version, tuple(internal), gauss))
    np.random.set_state(tuple(states["numpy"]))  # noqa: NPY002
