"""Request to stop a run: a signal to any of its processes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import distributed

from training.devices import ProcessInfo


class StopRequest:
    """Request to stop a run; all of its processes stop at the same step.

    Args:
        process: this process among those of the run.

    Attributes:
        agreed: all processes have agreed to stop.
    """

    def __init__(self, process: ProcessInfo) -> None:
        self.process = process
        self.signalled = False  # a signal came to this process
        self.agreed = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take SIGTERM and Ctrl-C as the request, and give them back in the end."""
        before = {name: signal.signal(name, self._note) for name in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def agree(self, *, may_communicate: bool) -> None:
        """Stop if a signal came to any process.

        Args:
            may_communicate: several processes ask each other; the same in all of them.
        """
        if self.process.world_size == 1:
            self.agreed = self.signalled
        elif may_communicate:
            asked = torch.tensor(int(self.signalled), device=self.process.device)
            distributed.all_reduce(asked)
            self.agreed = bool(asked)

    def _note(self, *_: object) -> None:
        self.signalled = True
