"""The state that a run resumes from, on a CPU to the bit: safetensors and JSON, never pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from training.config import Recipe, RunConfig
from training.devices import ProcessInfo
from training.run.progress import Progress
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, ConfigError, quoted, unreadable
from transformer.files.atomic import FolderKind, backup_path, replace_folder
from transformer.files.reading import GIB, MIB, read_bytes

TENSORS, STATE_JSON = "state.safetensors", "state.json"
PROGRESS_KEY = "place"  # in state.json; the name that runs of earlier versions have written
MOST_BYTES = 16 * GIB  # of the tensors: weights and two moments of the largest model
# a run may be extended, ended with a cooldown, and moved to devices of another memory or compiler
MAY_CHANGE = ("steps", "cooldown", "micro_batch_tokens", "compile")
KIND = FolderKind("state of a run", lambda _: dict.fromkeys((TENSORS, STATE_JSON)))
_FOREIGN = (
    KeyError, ValueError, TypeError, AttributeError, RuntimeError, OverflowError, ConfigError,
)  # fmt: skip


@dataclass(frozen=True)
class Identity:
    """Properties that a resumed run must share with the saved one.

    Args:
        config: all of its settings, apart from those of `MAY_CHANGE`.
        text: the fingerprint of the training text.
    """

    config: RunConfig
    text: str

    def to_dict(self) -> dict[str, Any]:
        """As it stands in state.json."""
        return {"config": self.config.to_dict(), "text": self.text}


@dataclass(frozen=True)
class Snapshot:
    """The state of a run at one moment, which the run does not change any more.

    Args:
        tensors: weights, the optimiser's moments and the losses since the last log line.
        written: what stands in state.json beside their checksum.
    """

    tensors: bytes
    written: Mapping[str, Any]

    @classmethod
    def take(
        cls,
        progress: Progress,
        model: nn.Module,
        optimizer: Optimizer,
        losses: Sequence[float],
        identity: Identity,
    ) -> Snapshot:
        """Copy what has to be saved.

        Dropout draws from the number of the step, so there is no state of a generator.

        Args:
            progress: how far the run is.
            model: its weights.
            optimizer: its moments.
            losses: `[process]`, summed since the last loss in the log.
            identity: what a resumed run must share.
        """
        tensors = _tensors(model, optimizer)
        tensors |= {f"loss.{rank}": torch.tensor(loss) for rank, loss in enumerate(losses)}
        written = {PROGRESS_KEY: asdict(progress), **identity.to_dict()}
        return cls(safetensors.torch.save(tensors), written)

    def write(self, folder: Path) -> None:
        """Write it; the last state is kept as a backup."""
        written = {**self.written, "sha256": hashlib.sha256(self.tensors).hexdigest()}
        with replace_folder(folder, KIND, keep_backup=True) as new:
            (new / TENSORS).write_bytes(self.tensors)
            (new / STATE_JSON).write_text(json.dumps(written), "utf-8")


def has_state(folder: Path) -> bool:
    """Return whether a run has saved its state in a folder."""
    return folder.exists() or backup_path(folder).exists()


def load_state(
    folder: Path,
    model: nn.Module,
    optimizer: Optimizer,
    summed_loss: Tensor,
    identity: Identity,
    process: ProcessInfo,
) -> tuple[Progress, str]:
    """Put weights, optimiser and the summed loss back; the number of processes may be another.

    Returns:
        The progress, and a warning to print when the last state was damaged and its backup was
        loaded; empty otherwise.

    Raises:
        CheckpointError: if both states are damaged, or text or configuration changed.
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
        _refuse_earlier_updates(folder, written["config"])
        _refuse_changes(written["config"], identity.config.to_dict())
        _refuse_another_text(folder, written, identity)
        _restore(tensors, model, optimizer)
        summed_loss.fill_(_loss_of(process, tensors))
        return Progress(**written[PROGRESS_KEY]), warning
    except _FOREIGN as error:
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


def _refuse_earlier_updates(folder: Path, saved: Mapping[str, Mapping[str, Any]]) -> None:
    """In earlier versions an update was so many batches of each process: of another order."""
    batches = saved["training"].get("accumulate", 1) * saved.get("run", {}).get("processes", 1)
    if batches != 1:
        raise CheckpointError(
            f"{folder} was written by an earlier version, with {batches} batches in each update, "
            f"where this one has one: start a new run, with --start-from its last checkpoint."
        )


def _refuse_changes(
    saved: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> None:
    # a field that is younger than the state was then what its default is
    complete = {
        "model": TransformerConfig.from_dict(dict(saved["model"])).to_dict(),
        "training": {**asdict(Recipe()), **saved["training"]},
    }
    for table, fields in now.items():
        for name, value in fields.items():
            if name not in MAY_CHANGE and complete[table][name] != value:
                before = quoted(complete[table][name])
                raise CheckpointError(
                    f"[{table}] {name} was {before} when the run began and is {value!r} now: "
                    f"resume with what it began with, or start a new run."
                )


def _refuse_another_text(folder: Path, written: Mapping[str, Any], identity: Identity) -> None:
    # runs of earlier versions have no fingerprint
    if written.get("text", identity.text) != identity.text:
        raise CheckpointError(
            f"The training text of --data is not the one that the run in {folder.parent} began "
            f"with: resume with the same folders, weights and files, or start a new run."
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


def _loss_of(process: ProcessInfo, tensors: Mapping[str, Tensor]) -> float:
    """Return the loss sum that a process resumes from; over all processes they add up to it."""
    count = sum(name.startswith("loss.") for name in tensors)
    losses = [float(tensors[f"loss.{rank}"]) for rank in range(count)]
    if count == process.world_size:
        return losses[process.rank]  # as it was, to the bit
    return sum(losses) if process.is_main_process else 0.0
