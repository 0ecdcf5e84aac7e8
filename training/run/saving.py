"""Saving of a run: which files, in which order, without waiting for the disk."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import torch
from torch import distributed

from training.devices import ProcessInfo
from training.run.progress import Progress
from training.run.state import STATE_JSON, TENSORS, Identity, Snapshot, load_state
from training.update import Updater
from transformer.checkpoints import checkpoint
from transformer.files.atomic import remove_folder, remove_leftovers
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

STATE = "state"


CHECKPOINTS = "checkpoints"
"""The folder of a run that holds its checkpoints."""


def checkpoints(run: Path) -> list[Path]:
    """List the complete checkpoints of a run, oldest first.

    One that was not finished when the run was killed has a longer name.
    """
    return sorted((run / CHECKPOINTS).glob("step-" + "[0-9]" * 8))


class Saver:
    """Saves checkpoints and states: copied at once, and written in the background.

    All processes of a run call its methods together; the main process writes.

    Args:
        out: the run's folder.
        model: in training.
        tokenizer: that of the model.
        updater: has the optimiser and the losses since the last log line.
        identity: what a resumed run must share.
        keep: how many checkpoints are kept.
        process: this process among those of the run.
    """

    def __init__(
        self,
        out: Path,
        model: Transformer,
        tokenizer: Tokenizer,
        updater: Updater,
        identity: Identity,
        keep: int,
        process: ProcessInfo,
    ) -> None:
        self.out, self.model, self.tokenizer, self.updater = out, model, tokenizer, updater
        self.identity, self.keep, self.process = identity, keep, process
        self.background = Background()

    def load(self) -> tuple[Progress, str]:
        """Load the last undamaged state.

        Returns:
            As `load_state`.

        Raises:
            CheckpointError: if there is none, or text or configuration changed.
        """
        return load_state(
            self.out / STATE, self.model, self.updater.optimizer, self.updater.summed_loss,
            self.identity, self.process,
        )  # fmt: skip

    def save_state(self, progress: Progress) -> None:
        """Write what `load` reads, and wait until it is there.

        Raises:
            OSError: in all processes, if it cannot be written.
        """
        self.raise_if_failed(wait=True)
        losses = self._losses()
        if self.process.is_main_process:
            self.background.start(partial(self._snapshot(progress, losses).write, self.out / STATE))
        self.raise_if_failed(wait=True)

    def save(self, progress: Progress) -> None:
        """Begin to write a checkpoint and the state; the older checkpoints are removed after it.

        In this order: at whatever moment the run is killed, the checkpoints to average are there.

        Raises:
            OSError: in all processes, if the last one could not be written.
        """
        self.raise_if_failed(wait=True)
        losses = self._losses()
        if not self.process.is_main_process:
            return
        copy, state = _copy_of(self.model), self._snapshot(progress, losses)

        def write() -> None:
            folder = self.out / CHECKPOINTS / f"step-{progress.step:08d}"
            checkpoint.save(folder, copy, self.tokenizer)
            state.write(self.out / STATE)
            for old in checkpoints(self.out)[: -self.keep]:
                remove_folder(old, checkpoint.folder_kind())

        self.background.start(write)

    def raise_if_failed(self, *, wait: bool) -> None:
        """Raise in all processes what went wrong when the main process wrote.

        Args:
            wait: until all that was begun is written.
        """
        failure = [self.background.failure(wait=wait)]
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
        self.background.close()

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


def _copy_of(model: Transformer) -> Transformer:
    """Copy the weights to the CPU, where no update changes them."""
    copy = Transformer.unfilled(model.config)
    copy.fill((name, p.detach().to("cpu", copy=True)) for name, p in model.named_parameters())
    return copy


def _step(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))


class Background:
    """Does one job at a time; what goes wrong in it is kept until somebody asks."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="files")
        self._job: Future[None] | None = None

    def start(self, job: Callable[[], None]) -> None:
        """Begin a job, after the one before; whoever starts one has asked for its failure."""
        self._job = self._thread.submit(job)

    def failure(self, *, wait: bool) -> BaseException | None:
        """Return the error of the last job, as far as it is done.

        Args:
            wait: until it is done.
        """
        if self._job is None or not (wait or self._job.done()):
            return None
        return self._job.exception()

    def close(self) -> None:
        """Wait for the last job, and end the thread."""
        self._thread.shutdown(wait=True)
