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

STATE_JSON = "state.json"  # it names its tensors by their checksum: replaced, it is a new state
TENSORS = "state.safetensors"  # of runs that began before they were named so
LOSS = "loss.0"  # of all processes since the last line of the log
MAX_BYTES = 16 * GIB  # of the tensors: weights and two moments of the largest model
# a run may be extended, ended with a cooldown, and moved to devices of another memory or compiler
MAY_CHANGE = ("steps", "cooldown", "micro_batch_tokens", "compile", "gpus")


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


def read_state(folder: Path) -> tuple[SavedRun, Mapping[str, Tensor]]:
    """Read the state of a run from its folder."""
    saved = SavedRun.read(folder)
    path = folder / _tensors(saved.sha256[:16])
    path = path if path.exists() else folder / TENSORS
    with reading(path):
        content = read_bytes(path, MAX_BYTES)
    if hashlib.sha256(content).hexdigest() != saved.sha256:
        raise CheckpointError(
            f"{path} is damaged: its SHA-256 is wrong. Start a new run, for example with "
            f"--start-from and the last of {folder.with_name(CHECKPOINTS)}."
        )
    return saved, safetensors.torch.load(content)


def _tensors(start: str) -> str:
    return f"state-{start}.safetensors"


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
        """Write what `load_state` reads; at any moment the last state or this one is whole."""
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
        folder, name = self.out / STATE, _tensors(checksum[:16])
        files = {name: content, STATE_JSON: json.dumps(asdict(saved)).encode()}
        if not folder.exists():
            with atomic.replace_folder(folder) as new:
                for file, data in files.items():
                    (new / file).write_bytes(data)
            return
        atomic.write_files([(folder / file, data) for file, data in files.items()])
        for old in (*folder.glob(_tensors("[0-9a-f]" * 16)), folder / TENSORS):
            if old.name != name:
                old.unlink(missing_ok=True)

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
                checkpoint.remove(old)

    def remove_checkpoints_after(self, step: int) -> None:
        """Remove the checkpoints after the state from which a run goes on."""
        if self.process.is_main_process:
            for folder in (self.out, self.out / STATE, self.out / CHECKPOINTS):
                atomic.sweep(folder)
            for folder in checkpoints(self.out):
                if step_of(folder) > step:
                    checkpoint.remove(folder)
