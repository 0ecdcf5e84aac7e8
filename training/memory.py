"""Advice for a GPU whose memory does not hold a micro-batch."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from training.data.batches import Batch
from training.update import Updater


def advice(updater: Updater, batches: Sequence[Batch], step: int) -> str:
    """Advise on a setting that fits the memory of the device."""
    full = f"The memory of the GPU is full at step {step:,}: "
    if fitting := tokens_that_fit(updater, batches):
        return (
            f"{full}micro_batch_tokens = {fitting} fits; write that under [training] and continue "
            f"with --resume."
        )
    return f"{full}not even one sentence pair fits; lower max_pieces or choose a smaller model."


def tokens_that_fit(updater: Updater, batches: Sequence[Batch]) -> int:
    """Find the largest micro-batch that fits, in padded tokens, by halving the largest batch.

    Args:
        updater: the updater of the run.
        batches: those of an update that did not fit.

    Returns:
        The first half, quarter, … of its tokens that fits; 0 if not even one of its rows does.
    """
    largest = max(batches, key=_tokens)
    tokens = _tokens(largest)
    rows = len(largest.source)
    while rows > 1:
        tokens //= 2
        rows = max(1, tokens // (_tokens(largest) // len(largest.source)))
        if _fits(updater, _first_rows(largest, rows)):
            return tokens
    return 0


def _tokens(batch: Batch) -> int:
    """Count the padded tokens of the longer side."""
    return max(batch.source.numel(), batch.target.numel())


def _first_rows(batch: Batch, rows: int) -> Batch:
    return Batch(batch.source[:rows], batch.target[:rows], batch.labels[:rows])


def _fits(updater: Updater, batch: Batch) -> bool:
    """Return whether the device holds the gradients of a batch beside weights and moments."""
    updater.optimizer.zero_grad(set_to_none=True)
    if updater.process.device.type == "cuda":
        torch.cuda.empty_cache()
    try:
        # Adam makes its two moments in the first update
        moments = [
            torch.empty_like(p) for p in updater.parameters for _ in range(2)
            if p not in updater.optimizer.state
        ]  # fmt: skip
        updater.gradients(batch)
        del moments
    except torch.OutOfMemoryError:
        return False
    return True
