"""The training loop: updates, the log, validation, checkpoints, and how it stops (§5)."""

from __future__ import annotations

import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import distributed
from tqdm import tqdm

from training import runlog
from training.average import CHECKPOINTS, checkpoints, write_average
from training.config import RunConfig
from training.corpus import ParallelText
from training.devices import Placement
from training.feed import Feed, Step
from training.probes import is_early, save_probes
from training.runlog import Record, RunLog
from training.state import Place, load_state, save_state
from training.update import Updater
from training.validation import Validation, perplexity
from transformer import checkpoint
from transformer.errors import CheckpointError, HeadlightError, unwritable
from transformer.model import Transformer
from transformer.tokenizer import Tokenizer

STATE, AVERAGED, PROBES, LOG = "state", "averaged", "probes", "run.jsonl"


class TrainingError(HeadlightError):
    """A run that cannot go on."""


class Trainer:
    """One run, from its first step or from where it stopped.

    Args:
        config: the run.
        tokenizer: learnt on the training text alone.
        text: the training text.
        validation: text to measure on as the run goes.
        out: the run's folder.
        placement: this process among those of the run.
    """

    def __init__(
        self,
        config: RunConfig,
        tokenizer: Tokenizer,
        text: ParallelText,
        validation: ParallelText,
        out: Path,
        placement: Placement,
    ) -> None:
        self.config, self.recipe = config, config.recipe
        self.tokenizer, self.out, self.placement = tokenizer, out, placement
        self.feed = Feed(text, tokenizer, self.recipe, placement)
        torch.manual_seed(self.recipe.seed)
        self.model = Transformer(config.model).to(placement.device).train()
        torch.manual_seed(self.recipe.seed + placement.rank)  # dropout of each process for itself
        self.validation = Validation(
            validation, tokenizer, self.model, self.recipe.validate_sentences
        )
        self.updater = Updater(self.model, config, placement)
        self.place = Place()
        self.signalled = False  # somebody asked this process to stop
        self.stop_asked = False  # all processes know

    def resume(self) -> str:
        """Go back to the last state that is whole.

        Returns:
            A sentence to tell if that was not the last one; empty otherwise.

        Raises:
            CheckpointError: if there is none, or the configuration changed.
        """
        self.place, warning = load_state(
            self.out / STATE, self.model, self.updater.optimizer, self._identity(), self.placement
        )
        if self.placement.leads:
            for folder in checkpoints(self.out):
                if int(folder.name.removeprefix("step-")) > self.place.step:
                    shutil.rmtree(folder)
        return warning

    def run(self) -> bool:
        """Train until the last step, until nothing is gained, or until somebody asks to stop.

        Returns:
            Whether the run is complete.

        Raises:
            TrainingError: if the loss is no longer finite, or the disk is full.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_stop)
        try:
            self._run()
        except OSError as error:
            raise TrainingError(
                f"{unwritable(error, self.out)} Make room and go on with --resume."
            ) from error
        return not self.stop_asked

    def average(self) -> Path:
        """Average the last checkpoints into a folder of the run (§6.1)."""
        write_average(self.out, self.recipe.average, self.out / AVERAGED)
        return self.out / AVERAGED

    def _run(self) -> None:
        log = self._open_log() if self.placement.leads else None
        bar = tqdm(
            total=self.recipe.steps, initial=self.place.step, unit="step", mininterval=1.0,
            disable=not self.placement.leads, smoothing=0.02,
        )  # fmt: skip
        tokens, seconds, started = 0, 0.0, time.monotonic()
        steps = self.feed.steps(self.place)
        while not self._finished() and not self.stop_asked:
            step = next(steps)
            self._update(step)
            tokens += step.tokens
            if self._due(self.recipe.log_every):
                loss = self.updater.take_summed_loss() / tokens
            self._agree_to_stop()
            elapsed = time.monotonic() - started
            seconds += elapsed
            self.place = replace(self.place, seconds=self.place.seconds + elapsed)
            bar.update()
            if self._due(self.recipe.log_every):
                bar.set_postfix_str(self._log(log, loss, tokens / seconds))
                tokens, seconds = 0, 0.0
            if self._due(self.recipe.validate_every):
                self._validate(log, bar)
            if self._due(self.recipe.validate_every) or is_early(self.place.step):
                self._keep_probes()
            if self._due(self.recipe.save_every):
                self._save()
            started = time.monotonic()
        bar.close()
        if self.stop_asked:
            self._save_state()

    def _open_log(self) -> RunLog:
        try:
            log = RunLog(self.out / LOG, self.place.step)
        except ValueError as error:
            raise CheckpointError(str(error)) from error
        planned, logged = self._plan(), runlog.plan(runlog.read(log.path))
        if planned != {name: value for name, value in logged.items() if name != "step"}:
            log.write(step=self.place.step, **planned)
        return log

    def _plan(self) -> Record:
        """What a reader needs to draw the planned schedule beside the one that was used."""
        return {
            "parameters": self.model.number_of_parameters(),
            "d_model": self.config.model.d_model,
            "warmup": self.recipe.warmup,
            "lr_factor": self.recipe.lr_factor,
            "steps": self.recipe.steps,
            "cooldown": self.recipe.cooldown,
            "batch_tokens": self.recipe.batch_tokens * self.feed.group,
        }

    def _update(self, step: Step) -> None:
        number = self.place.step + 1
        self.updater.update(number, step.batches, step.tokens)
        self.place = replace(
            self.place, step=number, epoch=step.place.epoch, batch=step.place.batch
        )
        # reading it waits for a GPU, so there it is read at each line of the log
        if self.placement.device.type == "cpu" or self._due(self.recipe.log_every):
            self._refuse_bad_step()

    def _refuse_bad_step(self) -> None:
        if bad := int(self.updater.first_bad_step):
            saved = [int(f.name.removeprefix("step-")) for f in checkpoints(self.out)]
            last = f"step {max(saved):,}" if saved else "the beginning"
            raise TrainingError(
                f"The loss or a gradient is not finite at step {bad:,} (epoch {self.place.epoch}, "
                f"batch {self.place.batch}); the weights were left as they were. The last good "
                f"checkpoint is that of {last}: lower lr_factor and train again."
            )

    def _due(self, every: int) -> bool:
        return self.place.step % every == 0 or self.place.step >= self.recipe.steps

    def _finished(self) -> bool:
        patience = self.recipe.patience
        tired = patience > 0 and self.place.without_gain >= patience
        return self.place.step >= self.recipe.steps or tired

    def _log(self, log: RunLog | None, loss: float, speed: float) -> str:
        rate = self.updater.rate(self.place.step)
        if log:
            log.write(
                step=self.place.step,
                epoch=self.place.epoch,
                loss=round(loss, 5),
                lr=rate,
                tokens_per_second=round(speed, 1),
                seconds=round(self.place.seconds, 1),
            )
        return f"loss {loss:.3f}  lr {rate:.2e}  {speed:,.0f} tokens/s"

    def _validate(self, log: RunLog | None, bar: tqdm) -> None:
        """Measure; every process measures the loss, so that all stop at the same validation."""
        loss = self.validation.loss()
        gained = self.place.best_loss is None or loss < self.place.best_loss
        self.place = replace(
            self.place,
            best_loss=loss if gained else self.place.best_loss,
            without_gain=0 if gained else self.place.without_gain + 1,
        )
        if log is None:
            return
        result = self.validation.score()
        log.write(
            step=self.place.step,
            validation_loss=round(loss, 5),
            validation_perplexity=round(perplexity(loss), 4),
            validation_bleu=round(result.bleu, 2),
            validation_chrf=round(result.chrf, 2),
        )
        bar.write(
            f"step {self.place.step:,}: validation loss {loss:.3f}, "
            f"perplexity {perplexity(loss):.2f}, BLEU {result.bleu:.1f} (greedy)"
        )

    def _keep_probes(self) -> None:
        if self.placement.leads:
            save_probes(self.out / PROBES, self.place.step, self.model, self.tokenizer)

    def _save(self) -> None:
        if self.placement.leads:
            folder = self.out / CHECKPOINTS / f"step-{self.place.step:08d}"
            checkpoint.save(folder, self.model, self.tokenizer)
        self._save_state()
        if self.placement.leads:
            # last: whatever moment the run is cut at, the checkpoints to average are there
            for old in checkpoints(self.out)[: -self.recipe.average]:
                shutil.rmtree(old)

    def _save_state(self) -> None:
        save_state(
            self.out / STATE,
            self.place,
            self.model,
            self.updater.optimizer,
            self._identity(),
            self.placement,
        )

    def _identity(self) -> dict[str, dict[str, Any]]:
        """What must be the same for a run to be the same run."""
        return {**self.config.to_dict(), "run": {"processes": self.placement.world}}

    def _ask_to_stop(self, *_: object) -> None:
        self.signalled = True

    def _agree_to_stop(self) -> None:
        """Stop if a signal came; several processes, signalled apart, stop at the same step."""
        if self.placement.world == 1:
            self.stop_asked = self.signalled
        elif self._due(self.recipe.log_every):
            asked = torch.tensor(int(self.signalled), device=self.placement.device)
            distributed.all_reduce(asked)
            self.stop_asked = bool(asked)
