"""A run saves without waiting for the disk, and says so when that is full."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.conftest import RECIPE
from tests.training.runs import command, same_weights, weights
from training.run.state import Snapshot
from training.train import main
from training.update import Updater
from transformer.checkpoints import checkpoint

UPDATE, WRITE, SAVE = Updater.update, Snapshot.write, checkpoint.save


def test_the_training_goes_on_while_a_state_is_written(
    data: Path, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, whole, out = threading.Event(), tmp_path / "whole", tmp_path / "out"
    of_step_16: list[torch.Tensor] = []
    assert main(command(recipe, data, whole)) == 0

    def update(self: Updater, step: int, *rest: Any) -> None:
        UPDATE(self, step, *rest)
        if step == 16:
            of_step_16.extend(p.detach().clone() for p in self.parameters)
        if step == 23:  # the last before the next save
            reached.set()

    def save(folder: Path, *rest: Any, **further: Any) -> None:  # the state is written after it
        if folder.name == "step-00000016":
            assert reached.wait(60)
        SAVE(folder, *rest, **further)

    with monkeypatch.context() as patch:
        patch.setattr(Updater, "update", update)
        patch.setattr(checkpoint, "save", save)
        assert main(command(recipe, data, out)) == 0
    assert reached.is_set()
    assert same_weights(weights(out), weights(whole))
    saved, expected = weights(out, 16).values(), of_step_16
    assert sorted(float(t.sum()) for t in saved) == sorted(float(t.sum()) for t in expected)
    # the state before the last one is that of step 16, although it was written in step 23
    for path in (out / "state").iterdir():
        path.write_bytes(b"damaged")
    assert main(command(recipe, data, out, "--resume")) == 0
    assert same_weights(weights(out), weights(whole))


def test_a_disk_that_is_full_is_noticed_at_the_next_line_of_the_log(
    data: Path,
    recipe: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps, failed = [], threading.Event()

    def update(self: Updater, step: int, *rest: Any) -> None:
        steps.append(step)
        if step == 12:
            assert failed.wait(60)
        UPDATE(self, step, *rest)

    def write(self: Snapshot, folder: Path) -> None:
        if self.written["place"]["step"]:
            failed.set()
            raise OSError(28, "No space left on device", str(folder))
        WRITE(self, folder)

    recipe.write_text(RECIPE.replace("log_every = 4", "log_every = 1"))
    monkeypatch.setattr(Updater, "update", update)
    monkeypatch.setattr(Snapshot, "write", write)
    out = tmp_path / "out"
    assert main(command(recipe, data, out)) == 2
    said = capsys.readouterr().err.rstrip("\n").rpartition("\n")[2]
    assert "state cannot be written: No space left on device." in said
    assert said.endswith("Make room and continue with --resume.")
    assert 8 < steps[-1] < 16  # before the next save
    monkeypatch.undo()
    assert main(command(recipe, data, out, "--resume")) == 0
