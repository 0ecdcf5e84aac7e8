"""The training loop: updates, the log, validation, checkpoints, and how it stops (§5)."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path
from typing import Any

import torch
from torch import distributed
from tqdm import tqdm

from training import runlog
from training.average import CHECKPOINTS, checkpoints, write_average
from training.batch_stream import BatchStream, UpdateBatches
from training.config import RunConfig
from training.corpus import ParallelText
from training.devices import ProcessInfo
from training.probes import is_probe_step, save_probes
from training.runlog import Record, RunLog
from training.state import Progress, load_state, save_state
from training.update import Updater
from training.validation import Validation, perplexity
from transformer import checkpoint
from transformer.errors import HeadlightError, unwritable
from transformer.model import Transformer
from transformer.tokenizer import Tokenizer

STATE, AVERAGED, PROBES, LOG = "state", "averaged", "probes", "run.jsonl"


class TrainingError(HeadlightError):
    """A run that cannot continue."""


class Trainer:
    """One run, from its first step or from where it stopped.

    Args:
        config: the run.
        tokenizer: learnt on the training text alone.
        text: the training text.
        validation: text to measure on as the run goes.
        out: the run's folder.
        process: this process among those of the run.
    """

    def __init__(
        self,
        config: RunConfig,
        tokenizer: Tokenizer,
        text: ParallelText,
        validation: ParallelText,
        out: Path,
        process: ProcessInfo,
    ) -> None:
        self.config, self.recipe = config, config.recipe
        self.tokenizer, self.out, self.process = tokenizer, out, process
        self.stream = BatchStream(text, tokenizer, self.recipe, process)
        torch.manual_seed(self.recipe.seed)
        self.model = Transformer(config.model).to(process.device).train()
        torch.manual_seed(self.recipe.seed + process.rank)  # dropout of each process for itself
        self.validation = Validation(
            validation, tokenizer, self.model, self.recipe.validate_sentences
        )
        self.updater = Updater(self.model, config, process)
        self.progress = Progress()
        self.signalled = False  # a signal asked this process to stop
        self.stop_asked = False  # all processes have agreed to stop

    def resume(self) -> str:
        """Load the last undamaged state.

        Returns:
            A warning to print if that was not the last one; empty otherwise.

        Raises:
            CheckpointError: if there is none, or the configuration changed.
            RunLogError: if the log is damaged.
        """
        self.progress, warning = load_state(
            self.out / STATE,
            self.model,
            self.updater.optimizer,
            self.updater.summed_loss,
            self._identity(),
            self.process,
        )
        runlog.read(self.out / LOG)  # a damaged one is refused while everything is still there
        if self.process.is_main_process:
            for folder in checkpoints(self.out):
                if int(folder.name.removeprefix("step-")) > self.progress.step:
                    shutil.rmtree(folder)
        return warning

    def run(self) -> bool:
        """Train until the last step, until patience runs out, or until a signal asks to stop.

        Returns:
            Whether the run is complete.

        Raises:
            TrainingError: if loss, gradients or weights are not finite, or the disk is full.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_stop)
        try:
            self._run()
        except OSError as error:
            raise TrainingError(
                f"{unwritable(error, self.out)} Make room and continue with --resume."
            ) from error
        return not self.stop_asked

    def average(self) -> Path:
        """Average the last checkpoints into a folder of the run (§6.1)."""
        write_average(self.out, self.recipe.average, self.out / AVERAGED)
        return self.out / AVERAGED

    def _run(self) -> None:
        log = self._open_log() if self.process.is_main_process else None
        # closed at an error, too, so that its sentence has a line of its own
        with tqdm(
            total=self.recipe.steps, initial=self.progress.step, unit="step", mininterval=1.0,
            disable=not self.process.is_main_process, smoothing=0.02,
        ) as bar:  # fmt: skip
            self._run_steps(log, bar)
        if self.stop_asked:
            self._check_before_saving()
            self.save_state()

    def _run_steps(self, log: RunLog | None, bar: tqdm) -> None:
        started = time.monotonic()
        updates = self.stream.updates(self.progress.epoch, self.progress.batch)
        while not self._finished() and not self.stop_asked:
            update = next(updates)
            self._update(update)
            if self._due(self.recipe.log_every):
                loss = self.updater.take_summed_loss() / self.progress.unlogged_tokens
            self._agree_to_stop()
            self.progress = self.progress.with_seconds(time.monotonic() - started)
            bar.update()
            if self._due(self.recipe.log_every):
                bar.set_postfix_str(self._log(log, loss))
            if self._due(self.recipe.validate_every):
                self._validate(log, bar)
            if self._due(self.recipe.validate_every) or is_probe_step(self.progress.step):
                self._save_probes()
            if self._due(self.recipe.save_every):
                self._save()
            started = time.monotonic()

    def _open_log(self) -> RunLog:
        log = RunLog(self.out / LOG, self.progress.step)
        planned, logged = self._plan(), runlog.plan(runlog.read(log.path))
        if planned != {name: value for name, value in logged.items() if name != "step"}:
            log.write(step=self.progress.step, **planned)
        return log

    def _plan(self) -> Record:
        """The planned schedule and how it is computed, for readers of the log."""
        return {
            "parameters": self.model.number_of_parameters(),
            "d_model": self.config.model.d_model,
            "warmup": self.recipe.warmup,
            "lr_factor": self.recipe.lr_factor,
            "steps": self.recipe.steps,
            "cooldown": self.recipe.cooldown,
            "batch_tokens": self.recipe.batch_tokens * self.stream.batches_per_update,
            "precision": "bf16" if self.updater.bf16 else "float32",
            "left_out": self.stream.encoded.left_out,
            "validation_left_out": self.validation.encoded.left_out,
        }

    def _update(self, update: UpdateBatches) -> None:
        step = self.progress.step + 1
        self.updater.update(step, update.batches, update.tokens)
        self.progress = self.progress.with_update(update.epoch, update.batches_done, update.tokens)
        # reading a value waits for a GPU: there only log lines and saves do
        if not self.process.is_asynchronous or self._due(self.recipe.log_every):
            self._raise_if_not_finite()

    def _raise_if_not_finite(self) -> None:
        """Stop at a bad step; all processes see the same one, and so stop together."""
        if step := int(self.updater.first_bad_step):
            raise TrainingError(
                f"The loss or a gradient is not finite at step {step:,} (epoch "
                f"{self.progress.epoch}, batch {self.progress.batch}); the weights were left as "
                f"they were. {self._advice()}"
            )

    def _check_before_saving(self) -> None:
        """Stop instead of saving weights that are not finite."""
        self._raise_if_not_finite()
        if not self.updater.weights_are_finite():
            raise TrainingError(
                f"The weights are not finite after step {self.progress.step:,} and were not "
                f"saved. {self._advice()}"
            )

    def _advice(self) -> str:
        saved = [int(folder.name.removeprefix("step-")) for folder in checkpoints(self.out)]
        last = f"step {max(saved):,}" if saved else "the beginning"
        return (
            f"The last good checkpoint is that of {last}: lower lr_factor and train again with "
            f"another --out."
        )

    def _due(self, every: int) -> bool:
        return self.progress.step % every == 0 or self.progress.step >= self.recipe.steps

    def _finished(self) -> bool:
        patience = self.recipe.patience
        out_of_patience = patience > 0 and self.progress.without_gain >= patience
        return self.progress.step >= self.recipe.steps or out_of_patience

    def _log(self, log: RunLog | None, loss: float) -> str:
        rate = self.updater.rate(self.progress.step)
        speed = self.progress.unlogged_tokens / self.progress.unlogged_seconds
        self.progress = self.progress.with_loss_logged()
        if log:
            log.write(
                step=self.progress.step,
                epoch=self.progress.epoch,
                loss=round(loss, 5),
                lr=rate,
                tokens_per_second=round(speed, 1),
                seconds=round(self.progress.seconds, 1),
            )
        return f"loss {loss:.3f}  lr {rate:.2e}  {speed:,.0f} tokens/s"

    def _validate(self, log: RunLog | None, bar: tqdm) -> None:
        """Measure; every process measures the loss, so that all stop at the same validation."""
        loss = self.validation.loss()
        self.progress = self.progress.with_validation(loss)
        if log is None:
            return
        result = self.validation.score()
        log.write(
            step=self.progress.step,
            validation_loss=round(loss, 5),
            validation_perplexity=round(perplexity(loss), 4),
            validation_bleu=round(result.bleu, 2),
            validation_chrf=round(result.chrf, 2),
        )
        bar.write(
            f"step {self.progress.step:,}: validation loss {loss:.3f}, "
            f"perplexity {perplexity(loss):.2f}, BLEU {result.bleu:.1f} (greedy)"
        )

    def _save_probes(self) -> None:
        if self.process.is_main_process:
            save_probes(self.out / PROBES, self.progress.step, self.model, self.tokenizer)

    def _save(self) -> None:
        self._check_before_saving()
        if self.process.is_main_process:
            folder = self.out / CHECKPOINTS / f"step-{self.progress.step:08d}"
            checkpoint.save(folder, self.model, self.tokenizer)
        self.save_state()
        if self.process.is_main_process:
            # last: at whatever moment the run is killed, the checkpoints to average are there
            for old in checkpoints(self.out)[: -self.recipe.average]:
                shutil.rmtree(old)

    def save_state(self) -> None:
        """Write what `resume` reads; every process calls it."""
        save_state(
            self.out / STATE,
            self.progress,
            self.model,
            self.updater.optimizer,
            self.updater.summed_loss,
            self._identity(),
            self.process,
        )

    def _identity(self) -> dict[str, dict[str, Any]]:
        """The settings that a resumed run must share with the saved one."""
        return {**self.config.to_dict(), "run": {"processes": self.process.world_size}}

    def _ask_to_stop(self, *_: object) -> None:
        self.signalled = True

    def _agree_to_stop(self) -> None:
        """Stop if a signal came to any process; all of them stop at the same step."""
        if self.process.world_size == 1:
            self.stop_asked = self.signalled
        elif self._due(self.recipe.log_every):
            asked = torch.tensor(int(self.signalled), device=self.process.device)
            distributed.all_reduce(asked)
            self.stop_asked = bool(asked)
