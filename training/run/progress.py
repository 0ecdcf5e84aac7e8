"""From where a run began, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Progress:
    """From where a run began, and how far it has come.

    Args:
        step: updates made.
        epoch: the epoch it is in, from 0.
        batch: updates of that epoch that are done.
        seconds: time spent on steps so far.
        best_loss: lowest validation loss yet; None before the first validation.
        without_gain: validations since then that were not better.
        unlogged_tokens: target tokens since the last loss in the log.
        unlogged_seconds: time spent on their steps.
        length_multiple: what the lengths of its batches are padded to multiples of. The order of
            the text depends on it, so a run keeps it on whatever device it goes on; 0 in a state
            of earlier versions.
        started_from: SHA-256 of the weights that it began with; empty if it drew its own.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best_loss: float | None = None
    without_gain: int = 0
    unlogged_tokens: int = 0
    unlogged_seconds: float = 0.0
    length_multiple: int = 0
    started_from: str = ""

    def with_update(self, epoch: int, batch: int, tokens: int) -> Progress:
        """After one more update of so many target tokens."""
        return replace(
            self,
            step=self.step + 1,
            epoch=epoch,
            batch=batch,
            unlogged_tokens=self.unlogged_tokens + tokens,
        )

    def with_seconds(self, seconds: float) -> Progress:
        """After so much more time spent on steps."""
        return replace(
            self,
            seconds=self.seconds + seconds,
            unlogged_seconds=self.unlogged_seconds + seconds,
        )

    def with_loss_logged(self) -> Progress:
        """After a line of the log."""
        return replace(self, unlogged_tokens=0, unlogged_seconds=0.0)

    def with_validation(self, loss: float) -> Progress:
        """After a validation that measured this loss."""
        if self.best_loss is None or loss < self.best_loss:
            return replace(self, best_loss=loss, without_gain=0)
        return replace(self, without_gain=self.without_gain + 1)
