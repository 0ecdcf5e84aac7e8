"""Helpers that the tests of whole runs share."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from tests.forkserver import forkserver as forkserver
from training.run import journal
from training.train import main
from training.update import Updater

TIMES = ("tokens_per_second", "seconds")  # of a log


def weights(out: Path, step: int | None = None) -> dict[str, torch.Tensor]:
    """Return the weights of the checkpoint of a step, or of the last one."""
    folders = out / "checkpoints"
    folder = max(folders.iterdir()) if step is None else folders / f"step-{step:08d}"
    return safetensors.torch.load_file(folder / "model.safetensors")


def same_weights(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    """Return whether two models agree in every bit."""
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def losses(out: Path) -> dict[int, float]:
    """The losses that a run has logged, by step."""
    return {
        int(r["step"]): float(r["loss"]) for r in journal.read(out / "run.jsonl") if "loss" in r
    }


def log_without_times(out: Path) -> list[journal.Record]:
    """Return what a run has logged, apart from how long it took."""
    return [
        {name: value for name, value in record.items() if name not in TIMES}
        for record in journal.read(out / "run.jsonl")
    ]


def status_stopped_at(step: int, arguments: list[str], signal_: int = signal.SIGTERM) -> int:
    """The exit status of training.train, to which a signal comes during the update of a step."""
    update = Updater.update

    def stopping(self: Updater, number: int, *rest: Any) -> None:
        if number == step:
            os.kill(os.getpid(), signal_)
        update(self, number, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Updater, "update", stopping)
        return main(arguments)


def main_stopped_at(step: int, arguments: list[str]) -> None:
    """The same as the main function of a process of its own."""
    sys.exit(status_stopped_at(step, arguments))


def wait_for_write(file: Path, is_running: Callable[[], bool]) -> None:
    """Wait until a run writes a file, or ends."""
    before = _written_at(file)
    while is_running() and _written_at(file) == before:
        time.sleep(0.01)


def _written_at(file: Path) -> object:
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:  # not there yet, or just about to be replaced
        return None
