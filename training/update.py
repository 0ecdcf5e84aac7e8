"""One update of the weights: loss, gradients, the schedule's rate, Adam (§5.3, §5.4)."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from training import devices, schedule
from training.config import RunConfig
from training.data.batches import Batch
from training.loss import decode_with_bias, label_smoothed_loss, r_drop_loss
from transformer.model import Transformer


class SummedLoss(nn.Module):
    """Model and loss as one module, for DistributedDataParallel to wrap; with R-Drop if asked."""

    def __init__(self, model: Transformer, r_drop: float = 0.0) -> None:
        super().__init__()
        self.model = model
        self.r_drop = r_drop

    def forward(self, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
        """Sum the label-smoothed losses of all target tokens, padding not counted, in nats."""
        epsilon_ls = self.model.config.epsilon_ls
        if self.r_drop == 0:
            decoded, projection = decode_with_bias(self.model, source, target)
            return label_smoothed_loss(decoded, projection, labels, epsilon_ls)
        # one pass over the doubled batch: dropout makes the two halves differ
        twice = source.repeat(2, 1), target.repeat(2, 1)
        decoded_twice, projection = decode_with_bias(self.model, *twice)
        return r_drop_loss(decoded_twice, projection, labels, epsilon_ls, self.r_drop)


class Updater:
    """Adam on the mean loss of all micro-batches of an update, on all processes.

    `first_bad_step` is the first step, from 1, whose loss or gradient was not finite in any
    process; 0 if none. A tensor on the device: reading it waits for the device.
    """

    def __init__(self, model: Transformer, config: RunConfig, process: devices.ProcessInfo) -> None:
        self.config, self.recipe, self.process = config, config.recipe, process
        self.bf16 = self.recipe.bf16 and process.has_native_bf16
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        if self.recipe.compile:
            # layer by layer: all layers of one kind share a few graphs, which serve all lengths but
            # guard on equal ones in the first batch, and on a multiple of 8 where a mask is aligned
            for layer in (*model.encoder.layers, *model.decoder.layers):
                layer.compile(dynamic=True)
        self.loss: nn.Module = SummedLoss(model, self.recipe.r_drop)
        if process.world_size > 1:
            # each process has computed the positions, the only buffer; the argument of this name
            # is deprecated in torch 2.13, and the one that takes its place is not there before it
            self.loss = DistributedDataParallel(self.loss)
            self.loss.broadcast_buffers = False
        # both stay on the device, so that no step has to wait for it
        self.summed_loss = torch.zeros((), device=process.device)
        self.first_bad_step = torch.zeros((), dtype=torch.long, device=process.device)

    def rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 1."""
        recipe = self.recipe
        until_end = schedule.cooldown_left(step, recipe.steps, recipe.cooldown)
        return schedule.learning_rate(
            step, self.config.model.d_model, recipe.warmup, recipe.lr_factor, until_end
        )

    def update(self, step: int, micro_batches: Sequence[Batch], tokens: int) -> None:
        """Make update `step`, counted from 1, of `tokens` target tokens on all processes.

        Where a loss or gradient is not finite in any process, `first_bad_step` is set in all of
        them, and neither this nor a later update changes the weights.

        Dropout draws from the seed, the step and the number of the process. A run that goes on
        with as many processes repeats its draws to the bit; with another number it is the same
        run to within rounding where P_drop is 0, and a similar one elsewhere.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(step)
        # neighbouring seeds are unrelated
        sequence = np.random.SeedSequence((self.recipe.seed, step, self.process.rank))
        torch.manual_seed(int(sequence.generate_state(1, np.uint64)[0]))
        for index, batch in enumerate(micro_batches):
            if isinstance(self.loss, DistributedDataParallel):
                self.loss.require_backward_grad_sync = index == len(micro_batches) - 1
            loss = self._loss(batch.to(self.process.device))
            # DDP averages the gradients over the processes: times their number gives the sum
            (loss * (self.process.world_size / tokens)).backward()
            self.summed_loss += loss.detach()
        norm = torch.nn.utils.get_total_norm(
            [p.grad for p in self.parameters if p.grad is not None], foreach=True
        )
        finite = self._in_all_processes(norm.isfinite() & self.summed_loss.isfinite())
        self.first_bad_step += (~finite & (self.first_bad_step == 0)) * step
        # where this is 1 the fused Adam skips the update, on the device itself
        self.optimizer.found_inf = (self.first_bad_step > 0).float()  # type: ignore[attr-defined]
        self.optimizer.grad_scale = None  # type: ignore[attr-defined]
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def take_summed_loss(self) -> float:
        """Return the sum of the losses since the last call, over all processes, in nats."""
        if self.process.world_size > 1:
            distributed.all_reduce(self.summed_loss)
        total = float(self.summed_loss)
        self.summed_loss.zero_()
        return total

    def weights_are_finite(self) -> bool:
        """Return whether all weights are finite in all processes; waits for the device."""
        finite = torch.stack([p.isfinite().all() for p in self.parameters]).all()
        return bool(self._in_all_processes(finite))

    def _in_all_processes(self, condition: Tensor) -> Tensor:
        """Return whether a condition, a scalar on the device, holds in every process."""
        if self.process.world_size == 1:
            return condition
        holds = condition.float()
        distributed.all_reduce(holds, distributed.ReduceOp.MIN)
        return holds > 0

    def _loss(self, batch: Batch) -> Tensor:
        with torch.autocast(self.process.device.type, torch.bfloat16, enabled=self.bf16):
            loss: Tensor = self.loss(batch.source, batch.target, batch.labels)
        return loss
