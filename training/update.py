"""One update of the weights: loss, gradients, the schedule's rate, Adam (§5.3, §5.4)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from training.batching import Batch
from training.config import RunConfig
from training.devices import Placement
from training.loss import label_smoothed_loss, r_drop_loss
from training.schedule import cooldown_left, learning_rate
from transformer.masks import padding_mask
from transformer.model import Transformer


class SummedLoss(nn.Module):
    """Model and loss as one module, which is what data parallelism wants to wrap.

    Args:
        model: the Transformer in training.
        r_drop: weight of R-Drop, which is not in the paper; 0 leaves it away.
    """

    def __init__(self, model: Transformer, r_drop: float = 0.0) -> None:
        super().__init__()
        self.model = model
        self.r_drop = r_drop

    def forward(self, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
        """Sum of the label-smoothed losses of all real target tokens, in nats."""
        epsilon_ls, projection = self.model.config.epsilon_ls, self.model.shared_embedding
        if self.r_drop == 0:
            return label_smoothed_loss(self._decode(source, target), projection, labels, epsilon_ls)
        # one pass over the batch twice: dropout makes the two halves differ
        twice = self._decode(source.repeat(2, 1), target.repeat(2, 1))
        return r_drop_loss(twice, projection, labels, epsilon_ls, self.r_drop)

    def _decode(self, source: Tensor, target: Tensor) -> Tensor:
        mask = padding_mask(source)
        return self.model.decode(target, self.model.encode(source, mask), mask)


class Updater:
    """Adam on the mean loss of all micro-batches of an update, on all processes.

    Args:
        model: on the device of this process.
        config: the run.
        placement: this process among those of the run.
    """

    def __init__(self, model: Transformer, config: RunConfig, placement: Placement) -> None:
        self.config, self.recipe, self.placement = config, config.recipe, placement
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        if self.recipe.compile:
            # layer by layer: all layers of one kind share what is compiled once
            for layer in (*model.encoder.layers, *model.decoder.layers):
                layer.compile(dynamic=True)
        self.loss: nn.Module = SummedLoss(model, self.recipe.r_drop)
        if placement.world > 1:
            self.loss = DistributedDataParallel(self.loss)
        # both stay on the device, so that no step waits for them
        self.summed_loss = torch.zeros((), device=placement.device)
        self.first_bad_step = torch.zeros((), dtype=torch.long, device=placement.device)

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 1."""
        recipe = self.recipe
        left = cooldown_left(step, recipe.steps, recipe.cooldown)
        return learning_rate(step, self.config.model.d_model, recipe.warmup, recipe.lr_factor, left)

    def update(self, step: int, micro_batches: Sequence[Batch], tokens: int) -> None:
        """Make one update.

        A loss or gradient that is not finite leaves the weights alone and is remembered in
        `first_bad_step`.

        Args:
            step: counted from 1.
            micro_batches: those of this process.
            tokens: real target tokens in the micro-batches of all processes.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(step)
        for index, batch in enumerate(micro_batches):
            self._backward(batch, tokens, last=index == len(micro_batches) - 1)
        norm = torch.nn.utils.get_total_norm(
            [p.grad for p in self.parameters if p.grad is not None], foreach=True
        )
        bad = ~(norm.isfinite() & self.summed_loss.isfinite())
        self.first_bad_step += (bad & (self.first_bad_step == 0)) * step
        # the fused Adam skips the update on the device itself where this is 1
        self.optimizer.found_inf = bad.float()  # type: ignore[attr-defined]
        self.optimizer.grad_scale = None  # type: ignore[attr-defined]
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def take_summed_loss(self) -> float:
        """The sum of the losses since the last call, over all processes, in nats."""
        if self.placement.world > 1:
            torch.distributed.all_reduce(self.summed_loss)
        total = float(self.summed_loss)
        self.summed_loss.zero_()
        return total

    def _backward(self, batch: Batch, tokens: int, *, last: bool) -> None:
        device = self.placement.device
        batch = batch.to(device)
        if isinstance(self.loss, DistributedDataParallel):
            self.loss.require_backward_grad_sync = last
        with torch.autocast(device.type, torch.bfloat16, enabled=self.recipe.bf16):
            loss = self.loss(batch.source, batch.target, batch.labels)
        # processes average their gradients: times their number gives the sum
        (loss * (self.placement.world / tokens)).backward()
        self.summed_loss += loss.detach()
