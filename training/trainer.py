"""The training loop: updates, the log, validation, checkpoints, and how it stops (§5)."""

import math
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn
from tqdm import tqdm

from training import bleu_tokens, devices, validation
from training.average import write_average
from training.config import RunConfig
from training.data import run_data
from training.data.batches import BatchStream, UpdateBatches
from training.run import journal
from training.run.journal import LOG, Record, RunLog
from training.run.state import Progress, RunIdentity, SavedRun, Saver, checkpoints, step_of
from training.update import Updater
from training.validation import Validation, is_probe_step, perplexity, save_probes
from transformer.analysis import stored
from transformer.checkpoints import checkpoint
from transformer.errors import ConfigError, HeadlightError, writing
from transformer.model import Transformer
from transformer.text.languages import OURS

AVERAGED, PROBES = "averaged", "probes"


class TrainingError(HeadlightError):
    """A run that cannot continue."""


class Trainer:
    """One run, from its first step or from where it stopped."""

    def __init__(
        self,
        config: RunConfig,
        data: run_data.RunData,
        out: Path,
        process: devices.ProcessInfo,
    ) -> None:
        self.config, self.recipe = config, config.recipe
        self.tokenizer, self.out, self.process = data.tokenizer, out, process
        self.stream = BatchStream(data.text, self.recipe, process)
        torch.manual_seed(self.recipe.seed)
        self.model = Transformer(config.model)
        if self.recipe.depth_scaled:
            scale_by_depth(self.model)
        self.model.to(process.device).train()
        self.validation = Validation(
            data.validation,
            self.tokenizer,
            self.model,
            self.recipe.validate_sentences,
            bleu_tokens.tokens_of(data.codes.names.target)[0],
        )
        self.languages = data.codes.names
        pairs = zip(data.validation.source, data.validation.target, strict=True)
        self.probes = validation.PROBES
        if self.languages != OURS:
            self.probes = tuple(islice(pairs, len(validation.PROBES)))
        self.updater = Updater(self.model, config, process)
        self.saver = Saver(
            out, self.model, self.tokenizer, self.updater,
            RunIdentity(config, data.text.fingerprint, data.codes), self.recipe.average, process,
        )  # fmt: skip
        self.progress = Progress(length_multiple=self.stream.length_multiple)
        self.saved_step: int | None = None  # the last one since it began or was resumed
        self.stop_request = devices.StopRequest(process)

    def start_from(self, given: checkpoint.Checkpoint) -> None:
        """Start from the weights of a checkpoint of the same shape."""
        self.model.load_state_dict(given.model.state_dict())
        self.progress.started_from = stored.checksum_of_weights(given.folder)

    def resume(self, saved: SavedRun, tensors: Mapping[str, Tensor]) -> None:
        """Go on from a state."""
        self.saver.load_state(saved, tensors)
        self.progress = saved.place
        if self.progress.step > self.recipe.steps:
            raise ConfigError(
                f"{self.out} is at step {self.progress.step:,} already, but {self.recipe.steps:,} "
                f"steps are asked for: ask for more in the configuration or with --steps."
            )
        self.stream.length_multiple = self.progress.length_multiple
        journal.read(self.out / LOG)  # a damaged one is refused while everything is still there
        self.saver.remove_checkpoints_after(self.progress.step)

    def run(self) -> bool:
        """Train to the last step, or until a signal comes; return if complete."""
        advice = "Make room and continue with --resume."
        with self.stop_request.listening(), writing(self.out, TrainingError, advice):
            self._run()
        return not self.stop_request.agreed

    def average(self) -> Path:
        """Average the last checkpoints into a folder of the run (§6.1)."""
        last = checkpoints(self.out)[-self.recipe.average :]
        write_average(last, self.out / AVERAGED, log=self.out / LOG)
        return self.out / AVERAGED

    def _run(self) -> None:
        journal = None
        if self.process.is_main_process:
            journal = RunLog(self.out / LOG, self.progress.step)
            journal.write_plan(self._plan())
        # closed at an error, too, so that its sentence has a line of its own
        with tqdm(
            total=self.recipe.steps, initial=self.progress.step, unit="step", mininterval=1.0,
            disable=not self.process.is_main_process, smoothing=0.02,
        ) as bar:  # fmt: skip
            self._run_steps(journal, bar)
        if self.stop_request.agreed:
            self._check_before_saving()
            self.saver.save_state(self.progress)

    def _run_steps(self, journal: RunLog | None, bar: tqdm) -> None:
        started = time.monotonic()
        updates = self.stream.updates(self.progress.epoch, self.progress.batch)
        while not self._finished() and not self.stop_request.agreed:
            self._update(next(updates))
            if self._due(self.recipe.log_every):
                loss = self.updater.take_summed_loss() / self.progress.unlogged_tokens
            self.stop_request.agree(may_communicate=self._due(self.recipe.log_every))
            seconds = time.monotonic() - started
            self.progress.seconds += seconds
            self.progress.unlogged_seconds += seconds
            bar.update()
            if self._due(self.recipe.log_every):
                bar.set_postfix_str(self._log(journal, loss))
            if self._due(self.recipe.validate_every):
                self._validate(journal, bar)
            watched = self._due(self.recipe.validate_every) or is_probe_step(self.progress.step)
            if watched:
                self._check_before_saving()  # in all processes
                if self.process.is_main_process:
                    save_probes(
                        self.out / PROBES, self.progress.step, self.model, self.tokenizer,
                        self.probes, self.languages,
                    )  # fmt: skip
            if self._due(self.recipe.save_every):
                self._save()
            started = time.monotonic()
        # resumed with just the steps that it has
        if self._finished() and self.saved_step != self.progress.step:
            self._save()

    def _plan(self) -> Record:
        started_from = self.progress.started_from
        return {
            **({"started_from": started_from} if started_from else {}),
            "parameters": self.model.number_of_parameters(),
            "d_model": self.config.model.d_model,
            "warmup": self.recipe.warmup,
            "lr_factor": self.recipe.lr_factor,
            "steps": self.recipe.steps,
            "cooldown": self.recipe.cooldown,
            "batch_tokens": self.recipe.batch_tokens,
            "precision": "bf16" if self.updater.bf16 else "float32",
            "device": self.process.device.type,
            "processes": self.process.world_size,
            "pairs": len(self.stream.text.encoded),
            "left_out": self.stream.text.encoded.left_out,
            "validation_left_out": self.validation.encoded.left_out,
        }

    def _update(self, update: UpdateBatches) -> None:
        step = self.progress.step + 1
        try:
            self.updater.update(step, update.batches, update.tokens)
        except torch.OutOfMemoryError as error:
            most, rows = max(
                (max(b.source.numel(), b.target.numel()), len(b.source)) for b in update.batches
            )
            advice = "lower max_pieces or choose a smaller model."
            if rows > 1:
                advice = (
                    f"write micro_batch_tokens = {most // 2} under [training], or less, and "
                    f"continue with --resume."
                )
            raise TrainingError(
                f"The memory of the GPU is full at step {step:,}, with {most:,} tokens at one "
                f"time: {advice}"
            ) from error
        except torch._dynamo.exc.TorchDynamoException as error:
            why = " ".join(str(error).partition("\n\n")[0].split()).rstrip(".")
            raise TrainingError(
                f"torch.compile fails here: {why}. Install a C compiler and Python's headers, set "
                f"TORCHDYNAMO_DISABLE=1, or write compile = false under [training], and continue "
                f"with --resume."
            ) from error
        self.progress.step = step
        self.progress.epoch, self.progress.batch = update.epoch, update.batches_done
        self.progress.unlogged_tokens += update.tokens
        # reading a value waits for a GPU: there only where the clock stands afterwards, for what is
        # queued would be computed meanwhile
        every = (self.recipe.log_every, self.recipe.save_every, self.recipe.validate_every)
        waits = any(map(self._due, every)) or is_probe_step(self.progress.step)
        if waits or not self.process.is_asynchronous:
            self._raise_if_not_finite()

    def _raise_if_not_finite(self) -> None:
        """Stop at a bad step; all processes see the same one, and so stop together."""
        if step := int(self.updater.first_bad_step):
            raise TrainingError(
                f"The loss or a gradient is not finite at step {step:,} (epoch "
                f"{self.progress.epoch}, batch {self.progress.batch}); the weights were left as "
                f"they were. {self._advice()}"
            )

    def _save(self) -> None:
        self._check_before_saving()
        self.saver.save(self.progress)
        self.saved_step = self.progress.step

    def _check_before_saving(self) -> None:
        """Stop instead of saving weights that are not finite."""
        self._raise_if_not_finite()
        if not self.updater.weights_are_finite():
            raise TrainingError(
                f"The weights are not finite after step {self.progress.step:,} and were not "
                f"saved. {self._advice()}"
            )

    def _advice(self) -> str:
        saved = checkpoints(self.out)
        last = f"step {step_of(saved[-1]):,}" if saved else "the beginning"
        return (
            f"The last good checkpoint is that of {last}: lower lr_factor and train again with "
            f"another --out."
        )

    def _due(self, every: int) -> bool:
        return self.progress.step % every == 0 or self.progress.step >= self.recipe.steps

    def _finished(self) -> bool:
        return self.progress.step >= self.recipe.steps

    def _log(self, journal: RunLog | None, loss: float) -> str:
        rate = self.updater.rate(self.progress.step)
        speed = self.progress.unlogged_tokens / self.progress.unlogged_seconds
        self.progress.unlogged_tokens, self.progress.unlogged_seconds = 0, 0.0
        if journal:
            journal.write(
                step=self.progress.step,
                epoch=self.progress.epoch,
                loss=round(loss, 5),
                lr=rate,
                tokens_per_second=round(speed, 1),
                seconds=round(self.progress.seconds, 1),
            )
        return f"loss {loss:.3f}  lr {rate:.2e}  {speed:,.0f} tokens/s"

    def _validate(self, journal: RunLog | None, bar: tqdm) -> None:
        """Measure loss and translations, in the main process."""
        if journal is None:
            return
        loss, result = self.validation.loss(), self.validation.score()
        journal.write(
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


@torch.no_grad()
def scale_by_depth(model: Transformer) -> None:
    """Divide each matrix of layer l by √l, l = 1 ... N, in both stacks.

    What a layer adds is then small beside what it is added to, and the gradient of a deep post-norm
    model does not vanish on its way down (Zhang, Titov and Sennrich 2019, §4, with α = 1; arXiv
    1908.11365). The paper does not say how its weights begin.
    """
    for stack in (model.encoder.layers, model.decoder.layers):
        for l, layer in enumerate(stack, start=1):  # noqa: E741, the symbol of the article
            for module in layer.modules():
                if isinstance(module, nn.Linear):
                    module.weight /= math.sqrt(l)
