"""The training loop: batches, loss, Adam, schedule, validation, checkpoints (§5)."""

from __future__ import annotations

import math
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from training.average import average
from training.batching import Batch, TokenBatches, make_batch
from training.config import RunConfig
from training.corpus import EncodedText, ParallelText, encode
from training.devices import Placement
from training.loss import label_smoothed_loss
from training.runlog import RunLog
from training.schedule import learning_rate
from training.state import Place, load_state, save_state
from training.validation import mean_loss, perplexity, score, translate_all
from transformer import checkpoint
from transformer.decoding import greedy
from transformer.errors import HeadlightError
from transformer.masks import padding_mask
from transformer.model import Transformer
from transformer.tokenizer import Tokenizer

STATE, CHECKPOINTS, AVERAGED, LOG = "state", "checkpoints", "averaged", "run.jsonl"


class TrainingError(HeadlightError):
    """A run that cannot go on."""


class SummedLoss(nn.Module):
    """Model and loss as one module, which is what data parallelism wants to wrap."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
        """Sum of the label-smoothed losses of all real target tokens, in nats."""
        mask = padding_mask(source)
        decoded = self.model.decode(target, self.model.encode(source, mask), mask)
        return label_smoothed_loss(
            decoded, self.model.shared_embedding, labels, self.model.config.epsilon_ls
        )


@dataclass
class _Window:
    """Sums since the last line of the log, kept where the tensors are: no waiting in the step."""

    loss: Tensor
    tokens: int = 0
    seconds: float = 0.0


class Trainer:
    """One run, from its first step or from where it stopped.

    Args:
        config: the run.
        tokenizer: learnt on the training text alone.
        text: the encoded training text.
        validation: text to measure on as the run goes.
        out: the run's folder.
        placement: this process among those of the run.
    """

    def __init__(
        self,
        config: RunConfig,
        tokenizer: Tokenizer,
        text: EncodedText,
        validation: ParallelText,
        out: Path,
        placement: Placement,
    ) -> None:
        self.config, self.recipe = config, config.recipe
        self.tokenizer, self.text, self.validation = tokenizer, text, validation
        self.encoded_validation = encode(validation, tokenizer, config.model.max_length)
        self.out, self.placement = out, placement
        torch.manual_seed(self.recipe.seed)
        self.model = Transformer(config.model).to(placement.device).train()
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        self.loss: nn.Module = SummedLoss(self.model)
        if placement.world > 1:
            torch.manual_seed(self.recipe.seed + 1 + placement.rank)  # another dropout in each
            self.loss = DistributedDataParallel(self.loss)
        self.batches = TokenBatches(text, self.recipe.batch_tokens, self.recipe.seed)
        self.place = Place()
        self.stop_asked = False

    def resume(self) -> None:
        """Go back to the last saved state.

        Raises:
            CheckpointError: if there is none, it is damaged, or the configuration changed.
        """
        self.place = load_state(self.out / STATE, self.model, self.optimizer, self.config.to_dict())

    def run(self) -> bool:
        """Train until the last step, or until somebody asks to stop.

        Returns:
            Whether the last step was reached.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_stop)
        log = RunLog(self.out / LOG, after_step=self.place.step) if self.placement.leads else None
        window = self._new_window()
        bar = tqdm(
            total=self.recipe.steps,
            initial=self.place.step,
            unit="step",
            disable=not self.placement.leads,
            mininterval=1.0,
            smoothing=0.02,
        )
        started = time.monotonic()
        for group, place in self._groups():
            if self.place.step >= self.recipe.steps or self.stop_asked:
                break
            tokens, rate = self._step(group, window)
            now = time.monotonic()
            elapsed, started = now - started, now
            window.tokens += tokens
            window.seconds += elapsed
            self.place = replace(
                place, step=self.place.step + 1, seconds=self.place.seconds + elapsed
            )
            step = self.place.step
            bar.update()
            if step % self.recipe.log_every == 0 and log:
                bar.set_postfix_str(self._log(log, window, rate))
                window = self._new_window()
            last = step == self.recipe.steps
            if (step % self.recipe.validate_every == 0 or last) and log:
                self._validate(log, bar)
            if (step % self.recipe.save_every == 0 or last) and log:
                self._save()
            started = time.monotonic()
        bar.close()
        if self.stop_asked and log:
            self._save_state()
        return self.place.step >= self.recipe.steps

    def average(self) -> Path:
        """Average the last checkpoints into a folder of the run (§6.1)."""
        averaged = average(self._checkpoints()[-self.recipe.average :])
        folder = self.out / AVERAGED
        checkpoint.save(folder, averaged.model, self.tokenizer, dtype=torch.float16)
        return folder

    def _groups(self) -> Iterator[tuple[list[Batch], Place]]:
        """The micro-batches of each update, and the place in the text behind them, without end."""
        world, rank = self.placement.world, self.placement.rank
        size = self.recipe.accumulate * world
        epoch, start = self.place.epoch, self.place.batch
        while True:
            rows = self.batches.epoch(epoch)
            # the last group of an epoch may be short, but every process needs one batch of it
            ends = range(start + size, len(rows) + 1, size) if len(rows) >= size else ()
            for end in ends:
                mine = rows[end - size : end][rank::world]
                batches = [make_batch(self.text, batch) for batch in mine]
                yield batches, Place(epoch=epoch, batch=end, seconds=self.place.seconds)
            if not ends and len(rows) < size:
                raise TrainingError(
                    f"The text makes {len(rows)} batches an epoch, fewer than the {size} of one "
                    f"update: lower batch_tokens or accumulate."
                )
            epoch, start = epoch + 1, 0

    def _step(self, group: list[Batch], window: _Window) -> tuple[int, float]:
        """One update: the gradient of the mean loss over all tokens of all micro-batches."""
        step = self.place.step + 1
        rate = learning_rate(
            step, self.config.model.d_model, self.recipe.warmup, self.recipe.lr_factor
        )
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = rate
        device = self.placement.device
        tokens = sum(batch.tokens() for batch in group)
        if self.placement.world > 1:
            counted = torch.tensor(tokens, device=device)
            distributed.all_reduce(counted)
            tokens = int(counted)
        for index, batch in enumerate(group):
            moved = batch.to(device)
            with torch.autocast(device.type, torch.bfloat16, enabled=self.recipe.bf16):
                loss = self.loss(moved.source, moved.target, moved.labels)
            if isinstance(self.loss, DistributedDataParallel):
                self.loss.require_backward_grad_sync = index == len(group) - 1
            # processes average their gradients: times their number gives the sum
            (loss * (self.placement.world / tokens)).backward()
            window.loss += loss.detach()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return tokens, rate

    def _log(self, log: RunLog, window: _Window, rate: float) -> str:
        if self.placement.world > 1:
            window.loss *= self.placement.world  # of this process alone: an estimate
        loss = float(window.loss) / window.tokens
        if not math.isfinite(loss):
            raise TrainingError(
                f"The loss is {loss} near step {self.place.step}: lower lr_factor and go on "
                f"from the last checkpoint with --resume."
            )
        speed = window.tokens / window.seconds
        log.write(
            step=self.place.step,
            epoch=self.place.epoch,
            loss=round(loss, 5),
            lr=rate,
            tokens_per_second=round(speed, 1),
            seconds=round(self.place.seconds, 1),
        )
        return f"loss {loss:.3f}  lr {rate:.2e}  {speed:,.0f} tokens/s"

    def _validate(self, log: RunLog, bar: tqdm[None]) -> None:
        random = torch.get_rng_state()
        self.model.eval()
        loss = mean_loss(self.model, self.encoded_validation)
        n = self.recipe.validate_sentences
        translations = translate_all(
            self.encoded_validation.source[:n],
            lambda source: greedy(self.model, source),
            self.tokenizer,
            self.placement.device,
        )
        references = [self.tokenizer.decode(ids) for ids in self.encoded_validation.target[:n]]
        result = score(translations, references)
        self.model.train()
        torch.set_rng_state(random)
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

    def _save(self) -> None:
        folder = self.out / CHECKPOINTS / f"step-{self.place.step:08d}"
        checkpoint.save(folder, self.model, self.tokenizer)
        for old in self._checkpoints()[: -self.recipe.average]:
            shutil.rmtree(old)
        self._save_state()

    def _save_state(self) -> None:
        save_state(self.out / STATE, self.place, self.model, self.optimizer, self.config.to_dict())

    def _checkpoints(self) -> list[Path]:
        return sorted((self.out / CHECKPOINTS).glob("step-*"))

    def _new_window(self) -> _Window:
        return _Window(torch.zeros((), device=self.placement.device))

    def _ask_to_stop(self, *_: object) -> None:
        self.stop_asked = True
