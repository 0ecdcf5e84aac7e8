"""The state of a run, from which it resumes exactly: safetensors and JSON, never pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, distributed, nn
from torch.optim import Optimizer

from training.devices import ProcessInfo
from transformer.atomic import backup_path, replace_folder
from transformer.errors import CheckpointError, quoted, unreadable
from transformer.reading import GIB, MIB, read_bytes

TENSORS, STATE_JSON = "state.safetensors", "state.json"
PROGRESS_KEY = "place"  # in state.json; the name that runs of earlier versions have written
MOST_BYTES = 16 * GIB  # of the tensors: weights and two moments of the largest model
MAY_CHANGE = ("steps", "cooldown")  # a run may be extended, and then ended with a cooldown


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Args:
        step: updates made.
        epoch: the epoch it is in, from 0.
        batch: micro-batches of that epoch that are done.
        seconds: time spent on steps so far.
        best_loss: lowest validation loss yet; None before the first validation.
        without_gain: validations since then that were not better.
        unlogged_tokens: target tokens since the last loss in the log.
        unlogged_seconds: time spent on their steps.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best_loss: float | None = None
    without_gain: int = 0
    unlogged_tokens: int = 0
    unlogged_seconds: float = 0.0

    def with_update(self, epoch: int, batch: int, tokens: int) -> Progress:
        """After one more update of so many target tokens."""
        return replace(
            self,
            step=self.step + 1,
            epoch=epoch,
            batch=batch,
            unlogged_tokens=self.unlogged_tokens + tokens,
        )

    def with_seconds(self, seconds: float) -> Progress:
        """After so much more time spent on steps."""
        return replace(
            self,
            seconds=self.seconds + seconds,
            unlogged_seconds=self.unlogged_seconds + seconds,
        )

    def with_loss_logged(self) -> Progress:
        """After a line of the log."""
        return replace(self, unlogged_tokens=0, unlogged_seconds=0.0)

    def with_validation(self, loss: float) -> Progress:
        """After a validation that measured this loss."""
        if self.best_loss is None or loss < self.best_loss:
            return replace(self, best_loss=loss, without_gain=0)
        return replace(self, without_gain=self.without_gain + 1)


def has_state(folder: Path) -> bool:
    """Whether a run got as far as saving its state there."""
    return folder.exists() or backup_path(folder).exists()


def save_state(
    folder: Path,
    progress: Progress,
    model: nn.Module,
    optimizer: Optimizer,
    summed_loss: Tensor,
    config: Mapping[str, Mapping[str, Any]],
    process: ProcessInfo,
) -> None:
    """Write weights, optimiser, random states and progress; the last state is kept as a backup.

    Every process calls it, for its own random state and loss; the main process writes.

    Args:
        folder: where to.
        progress: how far the run is.
        model: its weights.
        optimizer: its moments.
        summed_loss: of this process, since the last loss in the log.
        config: what a resumed run must share.
        process: this process among those of the run.
    """
    of_processes = _gather(_of_process(summed_loss, process), process)
    if not process.is_main_process:
        return
    tensors = safetensors.torch.save({**_tensors(model, optimizer), **of_processes})
    written = {
        PROGRESS_KEY: asdict(progress),
        "config": config,
        "sha256": hashlib.sha256(tensors).hexdigest(),
    }
    with replace_folder(folder, keep_backup=True) as new:
        (new / TENSORS).write_bytes(tensors)
        (new / STATE_JSON).write_text(json.dumps(written), "utf-8")


def load_state(
    folder: Path,
    model: nn.Module,
    optimizer: Optimizer,
    summed_loss: Tensor,
    config: Mapping[str, Mapping[str, Any]],
    process: ProcessInfo,
) -> tuple[Progress, str]:
    """Put weights, optimiser, random states and the summed loss back.

    Returns:
        The progress, and a warning to print when the last state was damaged and its backup was
        loaded; empty otherwise.

    Raises:
        CheckpointError: if both states are damaged, or the configuration changed.
    """
    warning = ""
    try:
        written, tensors = _read(folder)
    except CheckpointError as error:
        try:
            written, tensors = _read(backup_path(folder))
        except CheckpointError as older:
            raise CheckpointError(f"{error} {older} Start a new run.") from older
        warning = f"{error} Its backup is undamaged: resuming from there."
    try:
        _refuse_changes(written["config"], config)
        _restore(tensors, model, optimizer)
        torch.set_rng_state(tensors[f"random.{process.rank}.cpu"])
        if process.device.type == "cuda":
            torch.cuda.set_rng_state(tensors[f"random.{process.rank}.cuda"])
        # runs of earlier versions have none
        summed_loss.copy_(tensors.get(f"loss.{process.rank}", torch.zeros(())))
        return Progress(**written[PROGRESS_KEY]), warning
    except (KeyError, ValueError, TypeError, AttributeError, RuntimeError, OverflowError) as error:
        # what the checksum does not cover, or what another program has written
        raise CheckpointError(
            f"{folder} does not hold the state of a run: start a new run."
        ) from error


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        written = json.loads(read_bytes(folder / STATE_JSON, 64 * MIB))
        content = read_bytes(folder / TENSORS, MOST_BYTES)
        if hashlib.sha256(content).hexdigest() != written["sha256"]:
            raise CheckpointError(f"{folder / TENSORS} is damaged: its SHA-256 is wrong.")
        return written, safetensors.torch.load(content)
    except OSError as error:
        raise CheckpointError(unreadable(error, error.filename)) from error
    except (ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{folder / STATE_JSON} is damaged.") from error


def _refuse_changes(
    saved: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> None:
    for table, fields in now.items():
        for name, value in fields.items():
            if name not in MAY_CHANGE and saved.get(table, {}).get(name) != value:
                before = quoted(saved.get(table, {}).get(name))
                raise CheckpointError(
                    f"[{table}] {name} was {before} when the run began and is {value!r} now: "
                    f"resume with what it began with, or start a new run."
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


def _of_process(summed_loss: Tensor, process: ProcessInfo) -> dict[str, Tensor]:
    """What each process has for itself: torch's generators, and its part of the loss."""
    local = {
        f"random.{process.rank}.cpu": torch.get_rng_state(),
        f"loss.{process.rank}": summed_loss.to("cpu", copy=True),
    }
    if process.device.type == "cuda":
        local[f"random.{process.rank}.cuda"] = torch.cuda.get_rng_state()
    return local


def _gather(local: dict[str, Tensor], process: ProcessInfo) -> dict[str, Tensor]:
    """The tensors of all processes."""
    if process.world_size == 1:
        return local
    gathered: list[dict[str, Tensor]] = [{}] * process.world_size
    distributed.all_gather_object(gathered, local)
    return {name: state for states in gathered for name, state in states.items()}
