"""What the tests of whole runs share."""

from __future__ import annotations

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
from training import runlog
from training.train import main
from training.update import Updater

TIMES = ("tokens_per_second", "seconds")  # of a log


def command(recipe: Path, data: Path, out: Path, *more: str) -> list[str]:
    """The arguments of training.train."""
    return ["--config", str(recipe), "--data", str(data), "--out", str(out), *more]


def weights(out: Path) -> dict[str, torch.Tensor]:
    """Those of the last checkpoint of a run."""
    last = max((out / "checkpoints").iterdir())
    return safetensors.torch.load_file(last / "model.safetensors")


def same_weights(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    """Whether two models agree in every bit."""
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def losses(out: Path) -> dict[int, float]:
    """The losses that a run has logged, by step."""
    return {int(r["step"]): float(r["loss"]) for r in runlog.read(out / "run.jsonl") if "loss" in r}


def log_without_times(out: Path) -> list[runlog.Record]:
    """What a run has logged, apart from how long it took."""
    return [
        {name: value for name, value in record.items() if name not in TIMES}
        for record in runlog.read(out / "run.jsonl")
    ]


def main_stopped_at(step: int, arguments: list[str]) -> None:
    """training.train, to which SIGTERM comes during the update of a step; in its own process."""
    update = Updater.update

    def stopping(self: Updater, number: int, *rest: Any) -> None:
        if number == step:
            os.kill(os.getpid(), signal.SIGTERM)
        update(self, number, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Updater, "update", stopping)
        sys.exit(main(arguments))


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
