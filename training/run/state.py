"""Saved state of a run, as safetensors and JSON: it goes on from there, on a CPU to the bit."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, distributed, nn
from torch.optim import Optimizer

from training.config import RunConfig
from training.data.text_folders import ENGLISH_GERMAN, LanguageCodes
from training.devices import ProcessInfo
from training.update import Updater
from transformer.checkpoints import checkpoint
from transformer.errors import CheckpointError, ConfigError, unreadable
from transformer.files.atomic import (
    FolderKind,
    backup_path,
    remove_folder,
    remove_leftovers,
    replace_folder,
)
from transformer.files.reading import GIB, MIB, read_bytes
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

STATE, CHECKPOINTS = "state", "checkpoints"
"""The folders of a run that hold its state and its checkpoints."""

TENSORS, STATE_JSON = "state.safetensors", "state.json"
PROGRESS_KEY = "place"  # in state.json
MAX_BYTES = 16 * GIB  # of the tensors: weights and two moments of the largest model
# a run may be extended, ended with a cooldown, and moved to devices of another memory or compiler
MAY_CHANGE = ("steps", "cooldown", "micro_batch_tokens", "compile")
KIND = FolderKind("state of a run", lambda _: dict.fromkeys((TENSORS, STATE_JSON)))
_FOREIGN = (
    KeyError, ValueError, TypeError, AttributeError, RuntimeError, OverflowError, ConfigError,
)  # fmt: skip


@dataclass
class Progress:
    """From where a run began, and how far it has come; a run adds to it as it goes."""

    step: int = 0  # updates made
    epoch: int = 0  # the epoch it is in, from 0
    batch: int = 0  # updates of that epoch that are done
    seconds: float = 0.0  # time spent on steps so far
    best_loss: float | None = None  # lowest validation loss yet; None before the first validation
    without_gain: int = 0  # validations since then that were not better
    unlogged_tokens: int = 0  # target tokens since the last loss in the log
    unlogged_seconds: float = 0.0  # time spent on their steps
    # what the lengths of its batches are padded to multiples of. The order of the text depends on
    # it, so a run keeps it on whatever device it goes on.
    length_multiple: int = 1
    started_from: str = ""  # SHA-256 of the weights that it began with; empty if it drew its own


@dataclass(frozen=True)
class RunIdentity:
    """Settings, apart from those of `MAY_CHANGE`, text and languages: a resumed run's, too."""

    config: RunConfig
    text: str
    codes: LanguageCodes = ENGLISH_GERMAN


@dataclass(frozen=True)
class Snapshot:
    """The state of a run at one moment: tensors, and what state.json has beside their checksum."""

    tensors: bytes
    written: Mapping[str, Any]

    @classmethod
    def take(
        cls,
        progress: Progress,
        model: nn.Module,
        optimizer: Optimizer,
        losses: Sequence[float],
        identity: RunIdentity,
    ) -> "Snapshot":
        """Copy what has to be saved; `losses`, `[process]`, are summed since the last log line.

        Dropout draws from the number of the step, so there is no state of a generator.
        """
        tensors = {f"loss.{rank}": torch.tensor(loss) for rank, loss in enumerate(losses)}
        for name, parameter in model.named_parameters():
            tensors[f"model.{name}"] = parameter.detach().contiguous()
            for key, value in optimizer.state.get(parameter, {}).items():
                tensors[f"optimizer.{key}.{name}"] = value.contiguous()
        config = identity.config.to_dict()
        written = {
            PROGRESS_KEY: asdict(progress),
            "config": config,
            "text": identity.text,
            **identity.codes.record(),
        }
        return cls(safetensors.torch.save(tensors), written)

    def write(self, folder: Path) -> None:
        """Write the state; the last one is kept as a backup."""
        written = {**self.written, "sha256": hashlib.sha256(self.tensors).hexdigest()}
        with replace_folder(folder, KIND, keep_backup=True) as new:
            (new / TENSORS).write_bytes(self.tensors)
            (new / STATE_JSON).write_text(json.dumps(written), "utf-8")


def has_state(folder: Path) -> bool:
    """Return whether a run has saved its state in a folder."""
    return folder.exists() or backup_path(folder).exists()


def saved_endings(folder: Path) -> LanguageCodes:
    """Return the languages of a run, as far as its state or the backup of it can be read."""
    for place in (folder, backup_path(folder)):
        with suppress(OSError, *_FOREIGN):
            return LanguageCodes.from_record(json.loads(read_bytes(place / STATE_JSON, 64 * MIB)))
    return ENGLISH_GERMAN


def load_state(
    folder: Path,
    model: nn.Module,
    optimizer: Optimizer,
    summed_loss: Tensor,
    identity: RunIdentity,
    process: ProcessInfo,
) -> tuple[Progress, str]:
    """Put weights, optimiser and the summed loss back; the number of processes may be another.

    Return the progress, and a warning if the last state was damaged and its backup was loaded.
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
        _refuse_another_run(folder, written, identity)
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
        content = read_bytes(folder / TENSORS, MAX_BYTES)
        if hashlib.sha256(content).hexdigest() != written["sha256"]:
            raise CheckpointError(f"{folder / TENSORS} is damaged: its SHA-256 is wrong.")
        return written, safetensors.torch.load(content)
    except OSError as error:
        raise CheckpointError(unreadable(error, error.filename)) from error
    except (ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{folder / STATE_JSON} is damaged.") from error


def _refuse_another_run(folder: Path, written: Mapping[str, Any], identity: RunIdentity) -> None:
    saved = RunConfig.from_dict(written["config"])
    for table, began, asked in (
        ("model", saved.model, identity.config.model),
        ("training", saved.recipe, identity.config.recipe),
    ):
        for name, value in asdict(asked).items():
            if name not in MAY_CHANGE and (before := getattr(began, name)) != value:
                raise CheckpointError(
                    f"[{table}] {name} was {before!r} when the run began and is {value!r} now: "
                    f"resume with what it began with, or start a new run."
                )
    if written["text"] != identity.text:
        raise CheckpointError(
            f"The training text of --data is not the one that the run in {folder.parent} began "
            f"with: resume with the same folders, weights and files, or start a new run."
        )


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


def checkpoints(run: Path) -> list[Path]:
    """List the complete checkpoints of a run, oldest first; an unfinished one has a longer name."""
    return sorted((run / CHECKPOINTS).glob("step-" + "[0-9]" * 8))


class Saver:
    """Saves states and the last `keep` checkpoints: copied at once, and written in the background.

    All processes of a run call its methods together; the main process writes.
    """

    def __init__(
        self,
        out: Path,
        model: Transformer,
        tokenizer: Tokenizer,
        updater: Updater,
        identity: RunIdentity,
        keep: int,
        process: ProcessInfo,
    ) -> None:
        self.out, self.model, self.tokenizer, self.updater = out, model, tokenizer, updater
        self.identity, self.keep, self.process = identity, keep, process
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="files")
        self._job: Future[None] | None = None  # the last one, whose failure is kept

    def save_state(self, progress: Progress) -> None:
        """Write what `load_state` reads, and wait; raise OSError in all processes if it fails."""
        self.raise_if_failed(wait=True)
        losses = self._losses()
        if self.process.is_main_process:
            state = self._snapshot(progress, losses)
            self._job = self._thread.submit(state.write, self.out / STATE)
        self.raise_if_failed(wait=True)

    def save(self, progress: Progress) -> None:
        """Start to write a checkpoint and the state, then remove the older checkpoints.

        In this order: at whatever moment the run is killed, the checkpoints to average are there.

        Raises:
            OSError: in all processes, if the last one could not be written.
        """
        self.raise_if_failed(wait=True)
        losses = self._losses()
        if not self.process.is_main_process:
            return
        # on the CPU, where no update changes the weights
        copy, state = Transformer.unfilled(self.model.config), self._snapshot(progress, losses)
        weights = self.model.named_parameters()
        copy.fill((name, p.detach().to("cpu", copy=True)) for name, p in weights)
        folder = self.out / CHECKPOINTS / f"step-{progress.step:08d}"

        def write() -> None:
            checkpoint.save(folder, copy, self.tokenizer, languages=self.identity.codes.languages)
            state.write(self.out / STATE)
            for old in checkpoints(self.out)[: -self.keep]:
                remove_folder(old, checkpoint.folder_kind())

        self._job = self._thread.submit(write)

    def raise_if_failed(self, *, wait: bool) -> None:
        """Raise in all processes what went wrong in writing so far, or in all of it."""
        job = self._job
        failure = [job.exception() if job and (wait or job.done()) else None]
        if self.process.world_size > 1:
            distributed.broadcast_object_list(failure)
        if failure[0]:
            raise failure[0]

    def last_saved_step(self) -> int | None:
        """Return the step of the last checkpoint, waiting for it; None before the first."""
        self.raise_if_failed(wait=True)
        return max((_step(folder) for folder in checkpoints(self.out)), default=None)

    def remove_checkpoints_after(self, step: int) -> None:
        """Remove the checkpoints after the state from which a run goes on.

        One that holds files of a person stays: the run is refused when it comes to that step.
        """
        if self.process.is_main_process:
            self.remove_leftovers()
            for folder in checkpoints(self.out):
                if _step(folder) > step:
                    remove_folder(folder, checkpoint.folder_kind())

    def remove_leftovers(self) -> None:
        """Remove what a killed process of this run was writing."""
        remove_leftovers(self.out, (TENSORS, STATE_JSON, *checkpoint.NAMES))
        remove_leftovers(self.out / CHECKPOINTS, checkpoint.NAMES)

    def close(self) -> None:
        """Wait until all that was begun is written or has failed."""
        self._thread.shutdown(wait=True)

    def _losses(self) -> list[float]:
        """Return the summed loss of each process since the last log line."""
        loss = self.updater.summed_loss
        losses = [loss]
        if self.process.world_size > 1:
            losses = [torch.zeros_like(loss) for _ in range(self.process.world_size)]
            distributed.all_gather(losses, loss)
        return [float(loss) for loss in losses]

    def _snapshot(self, progress: Progress, losses: list[float]) -> Snapshot:
        return Snapshot.take(progress, self.model, self.updater.optimizer, losses, self.identity)


def _step(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))
