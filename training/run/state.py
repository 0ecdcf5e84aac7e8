"""Saved state of a run, as safetensors and JSON: it goes on from there, on a CPU to the bit."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, distributed

from training import devices, update
from training.config import Recipe, RunConfig
from training.data.text_folders import ENGLISH_GERMAN, LanguageCodes
from transformer.checkpoints import checkpoint
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, reading
from transformer.files import atomic, documents
from transformer.files.reading import GIB, MIB, read_bytes
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

STATE, CHECKPOINTS = "state", "checkpoints"
"""The folders of a run that hold its state and its checkpoints."""

TENSORS, STATE_JSON = "state.safetensors", "state.json"
LOSS = "loss.0"  # of all processes since the last line of the log
MAX_BYTES = 16 * GIB  # of the tensors: weights and two moments of the largest model
# a run may be extended, ended with a cooldown, and moved to devices of another memory or compiler
MAY_CHANGE = ("steps", "cooldown", "micro_batch_tokens", "compile", "gpus")
KIND = atomic.FolderKind("the state of a run", lambda _: dict.fromkeys((TENSORS, STATE_JSON)))


@dataclass
class Progress:
    """Where a run began, and how far it has come; the run updates it."""

    step: int = 0  # updates made
    epoch: int = 0  # the epoch it is in, from 0
    batch: int = 0  # updates of that epoch that are done
    seconds: float = 0.0  # time spent on steps so far
    unlogged_tokens: int = 0  # target tokens since the last loss in the log
    unlogged_seconds: float = 0.0  # time spent on their steps
    # what the lengths of its batches are padded to multiples of. The order of the text depends on
    # it, so a run keeps it on whatever device it goes on.
    length_multiple: int = 1
    started_from: str = ""  # SHA-256 of the weights that it began with; empty if it drew its own


@dataclass(frozen=True)
class RunIdentity:
    """Identity of a run, equal when it resumes: text, languages, settings outside `MAY_CHANGE`."""

    config: RunConfig
    text: str  # its fingerprint
    languages: LanguageCodes = ENGLISH_GERMAN


@dataclass(frozen=True)
class SavedRun:
    """The content of state.json."""

    place: Progress
    config: Mapping[str, Mapping[str, Any]]
    text: str
    languages: LanguageCodes
    sha256: str  # of the tensors

    @classmethod
    def read(cls, folder: Path) -> "SavedRun":
        """Read it from the folder of a state."""
        path = folder / STATE_JSON
        try:
            with reading(path):
                return documents.from_json(cls, documents.parse_json(read_bytes(path, 64 * MIB)))
        except documents.DocumentError as error:
            raise CheckpointError(f"{path} is damaged: it {error}.") from error


def has_state(folder: Path) -> bool:
    """Return whether a run has saved its state in a folder."""
    return folder.exists() or atomic.backup_path(folder).exists()


def read_state(folder: Path) -> tuple[SavedRun, Mapping[str, Tensor], str]:
    """Read the last state, or its backup where that is damaged, which the third part then says."""
    try:
        return *_read(folder), ""
    except CheckpointError as error:
        try:
            backup = _read(atomic.backup_path(folder))
        except CheckpointError as older:
            raise CheckpointError(f"{error} {older} Start a new run.") from older
        return *backup, f"{error} Its backup is undamaged: resuming from there."


def _read(folder: Path) -> tuple[SavedRun, dict[str, Tensor]]:
    saved, path = SavedRun.read(folder), folder / TENSORS
    with reading(path):
        content = read_bytes(path, MAX_BYTES)
    if hashlib.sha256(content).hexdigest() != saved.sha256:
        raise CheckpointError(f"{path} is damaged: its SHA-256 is wrong.")
    return saved, safetensors.torch.load(content)


def checkpoints(run: Path) -> list[Path]:
    """List the complete checkpoints of a run, oldest first; an unfinished one has a longer name."""
    return sorted((run / CHECKPOINTS).glob("step-" + "[0-9]" * 8))


def step_of(checkpoint: Path) -> int:
    """Return the step of a checkpoint, by its name."""
    return int(checkpoint.name.removeprefix("step-"))


class Saver:
    """Saves states and the last `keep` checkpoints.

    All processes of a run call its methods together; the main process writes.
    """

    def __init__(
        self,
        out: Path,
        model: Transformer,
        tokenizer: Tokenizer,
        updater: update.Updater,
        identity: RunIdentity,
        keep: int,
        process: devices.ProcessInfo,
    ) -> None:
        self.out, self.model, self.tokenizer, self.updater = out, model, tokenizer, updater
        self.identity, self.keep, self.process = identity, keep, process

    @torch.no_grad()
    def load_state(self, saved: SavedRun, tensors: Mapping[str, Tensor]) -> None:
        """Put weights, optimiser and summed loss back; the number of processes may be another."""
        began, asked = saved.config, self.identity.config
        model = asdict(TransformerConfig.from_dict({**began.get("model", {})}))
        for table, then, now in (
            ("model", model, asdict(asked.model)),
            ("training", {**asdict(Recipe()), **began.get("training", {})}, asdict(asked.recipe)),
        ):
            for name, value in now.items():
                if name not in MAY_CHANGE and (before := then[name]) != value:
                    raise CheckpointError(
                        f"[{table}] {name} was {before!r} when the run began and is {value!r} now: "
                        f"resume with what it began with, or start a new run."
                    )
        if saved.text != self.identity.text:
            raise CheckpointError(
                "The training text of --data is not the one that the run began with: resume with "
                "the same folders, weights and files, or start a new run."
            )
        optimizer = self.updater.optimizer
        try:
            for name, parameter in self.model.named_parameters():
                parameter.copy_(tensors[f"model.{name}"])
                optimizer.state[parameter] = {
                    key: tensors[f"optimizer.{key}.{name}"].to(parameter.device)
                    for key in ("step", "exp_avg", "exp_avg_sq")
                    if f"optimizer.{key}.{name}" in tensors
                }
            loss = float(tensors[LOSS])
        except (KeyError, RuntimeError) as error:  # of a model of other shapes
            raise CheckpointError("The state is not that of this run: start a new run.") from error
        # over all processes they add up to it
        self.updater.summed_loss.fill_(loss if self.process.is_main_process else 0.0)

    def save_state(self, progress: Progress) -> None:
        """Write what `load_state` reads, and keep the last state as a backup."""
        loss = self.updater.summed_loss.clone()
        if self.process.world_size > 1:
            distributed.all_reduce(loss)
        if not self.process.is_main_process:
            return
        tensors = {LOSS: loss}
        for name, parameter in self.model.named_parameters():
            tensors[f"model.{name}"] = parameter.detach().contiguous()
            for key, value in self.updater.optimizer.state.get(parameter, {}).items():
                tensors[f"optimizer.{key}.{name}"] = value.contiguous()
        content, identity = safetensors.torch.save(tensors), self.identity
        checksum = hashlib.sha256(content).hexdigest()
        config = identity.config.to_dict()
        saved = SavedRun(progress, config, identity.text, identity.languages, checksum)
        with atomic.replace_folder(self.out / STATE, KIND, keep_backup=True) as new:
            (new / TENSORS).write_bytes(content)
            (new / STATE_JSON).write_text(json.dumps(asdict(saved)), "utf-8")

    def save(self, progress: Progress) -> None:
        """Write a checkpoint and the state, then remove the older checkpoints.

        In this order: at whatever moment the run is killed, the checkpoints to average are there.
        """
        if self.process.is_main_process:
            folder = self.out / CHECKPOINTS / f"step-{progress.step:08d}"
            languages = self.identity.languages.names
            checkpoint.save(folder, self.model, self.tokenizer, languages=languages)
        self.save_state(progress)
        if self.process.is_main_process:
            for old in checkpoints(self.out)[: -self.keep]:
                atomic.remove_folder(old, checkpoint.folder_kind())

    def remove_checkpoints_after(self, step: int) -> None:
        """Remove the checkpoints after the state from which a run goes on."""
        if self.process.is_main_process:
            self.remove_leftovers()
            for folder in checkpoints(self.out):
                if step_of(folder) > step:
                    atomic.remove_folder(folder, checkpoint.folder_kind())

    def remove_leftovers(self) -> None:
        """Remove what a killed process of this run was writing."""
        atomic.remove_leftovers(self.out, (TENSORS, STATE_JSON, *checkpoint.NAMES))
        atomic.remove_leftovers(self.out / CHECKPOINTS, checkpoint.NAMES)
