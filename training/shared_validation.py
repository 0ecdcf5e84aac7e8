"""The validation loss, of which each process measures a part."""

from __future__ import annotations

import torch
from torch import distributed

from training.data.corpus import EncodedText
from training.data.sentences import Sentences
from training.devices import ProcessInfo
from training.evaluation_mode import evaluation_mode
from training.validation import Validation, mean_loss


class SharedValidation:
    """Measures the loss on the rows r, r + W, … in process r of W, and sums over all of them.

    So all processes know one and the same loss, and stop early at the same validation.

    Args:
        validation: of the whole text.
        process: this process among those of the run.
    """

    def __init__(self, validation: Validation, process: ProcessInfo) -> None:
        self.validation, self.process = validation, process
        whole, rows = validation.encoded, slice(process.rank, None, process.world_size)
        self.part = EncodedText(Sentences(whole.source[rows]), Sentences(whole.target[rows]))

    def loss(self) -> float:
        """Mean cross-entropy of the whole text without smoothing and dropout, in nats."""
        if self.process.world_size == 1:
            return self.validation.loss()
        tokens = int(self.part.target.lengths().sum()) + len(self.part)  # with each </s>
        summed = 0.0
        if tokens:
            with evaluation_mode(self.validation.model):
                summed = mean_loss(self.validation.model, self.part) * tokens
        total = torch.tensor([summed, tokens], dtype=torch.float64, device=self.process.device)
        distributed.all_reduce(total)
        loss, count = total.tolist()
        return float(loss / count)
