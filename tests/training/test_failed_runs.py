"""What ends a training is one sentence, and what was saved before stays good."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.conftest import RECIPE
from tests.training.runs import command
from training.data.batches import Batch
from training.devices import ProcessInfo
from training.train import main
from training.update import Updater
from transformer.checkpoints import checkpoint
from transformer.files.atomic import MARK


def test_a_loss_that_is_not_finite_stops_before_it_harms_the_weights(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe.write_text(RECIPE.replace("lr_factor = 1.0", "lr_factor = 1e38"))
    assert main(command(recipe, data, tmp_path / "out")) == 2
    error = capsys.readouterr().err
    assert "is not finite at step" in error
    assert "batch" in error
    assert "last good checkpoint" in error
    for folder in (tmp_path / "out").glob("checkpoints/*"):
        assert all(p.isfinite().all() for p in checkpoint.load(folder).model.parameters())


@pytest.mark.parametrize("planted", ["weights", "step"])
def test_nothing_is_saved_that_is_not_finite(
    planted: str,
    data: Path,
    recipe: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recipe.write_text(RECIPE.replace("log_every = 4", "log_every = 24"))
    monkeypatch.setattr(ProcessInfo, "is_asynchronous", True)  # as on a GPU: no look at each step
    update = Updater.update

    def spoiled(self: Updater, step: int, batches: list[Batch], tokens: int) -> None:
        if step == 15 and planted == "step":
            self.summed_loss += float("nan")
        update(self, step, batches, tokens)
        if step == 16 and planted == "weights":
            with torch.no_grad():
                self.parameters[0][5] = float("inf")

    monkeypatch.setattr(Updater, "update", spoiled)
    assert main(command(recipe, data, tmp_path / "out")) == 2
    error = capsys.readouterr().err
    expected = {
        "weights": "The weights are not finite after step 16 and were not saved",
        "step": "The loss or a gradient is not finite at step 15",
    }
    assert expected[planted] in error
    assert "The last good checkpoint is that of step 8" in error
    assert [f.name for f in (tmp_path / "out" / "checkpoints").iterdir()] == ["step-00000008"]
    state = json.loads((tmp_path / "out" / "state" / "state.json").read_text())
    assert state["place"]["step"] == 8


def test_a_gpu_has_computed_all_before_the_clock_stops_for_a_probe(
    data: Path,
    recipe: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recipe.write_text(RECIPE.replace("log_every = 4", "log_every = 24"))
    monkeypatch.setattr(ProcessInfo, "is_asynchronous", True)
    update = Updater.update

    def spoiled(self: Updater, step: int, batches: list[Batch], tokens: int) -> None:
        if step == 3:
            self.summed_loss += float("nan")
        update(self, step, batches, tokens)

    monkeypatch.setattr(Updater, "update", spoiled)
    assert main(command(recipe, data, tmp_path / "out")) == 2
    # what step 3 has computed is looked at when step 4 is done
    assert "is not finite at step 3 (epoch 0, batch 4)" in capsys.readouterr().err


def test_a_compiler_that_is_missing_is_one_sentence_and_the_run_goes_on_without(
    data: Path,
    recipe: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def compiled(*_: object, **__: object) -> None:  # what Inductor raises after some seconds
        why = "InvalidCxxCompiler: No working C++ compiler found in (None, 'g++')"
        raise torch._dynamo.exc.TorchDynamoException(f"{why}\n\nSet TORCHDYNAMO_VERBOSE=1\n")

    monkeypatch.setattr(torch, "compile", lambda *_, **__: compiled)
    recipe.write_text(RECIPE + "compile = true\n")
    out = tmp_path / "out"
    assert main(command(recipe, data, out)) == 2
    error = capsys.readouterr().err
    assert "torch.compile fails here: InvalidCxxCompiler: No working C++ compiler found in" in error
    assert "(None, 'g++'). Install a C compiler and Python's headers, set TORCHDYNAMO" in error
    assert "Traceback" not in error
    recipe.write_text(RECIPE)
    assert main(command(recipe, data, out, "--resume", "--steps", "1")) == 0


def test_a_full_disk_is_one_sentence(
    data: Path,
    recipe: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    open_, room = Path.open, 0

    def open_while_there_is_room(path: Path, mode: str = "r", *options: Any, **named: Any) -> Any:
        nonlocal room
        # single files, such as tokenizer.model, are written in a folder of this name
        if mode[0] in "wx" and (path.name == full_at or path.parent.name.startswith(MARK)):
            room -= 1
            if room < 0:
                raise OSError(28, "No space left on device", path.name)
        return open_(path, mode, *options, **named)

    monkeypatch.setattr(Path, "open", open_while_there_is_room)
    full_at = "state.safetensors"
    for room, advice, is_there in (  # noqa: B007
        (0, "another --out", False),  # the first state
        (1, "another --out", False),  # the vocabulary
        (2, "--resume", True),  # the log
        (3, "--resume", True),  # the second state
    ):
        assert main(command(recipe, data, tmp_path / "out")) == 2
        error = capsys.readouterr().err
        last = error.rstrip("\n").rpartition("\n")[2]  # on a line of its own, not behind the bar
        assert " cannot be written: No space left on device." in last
        assert advice in last
        assert (tmp_path / "out").exists() is is_there
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
