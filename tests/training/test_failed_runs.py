"""A training ends in one sentence, and what was saved before stays good."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.training.conftest import TinyRun
from tests.training.runs import losses
from training.data.batches import Batch
from training.devices import ProcessInfo
from training.update import SummedLoss, Updater
from transformer.files.atomic import MARK

pytestmark = pytest.mark.slow

UPDATE = Updater.update


@pytest.mark.parametrize(
    ("planted", "step", "sentence", "saved"),
    [
        ("weights", 16, "The weights are not finite after step 16 and were not saved", 8),
        # what step 5 has computed is looked at when step 6, of a probe, is done
        ("loss", 5, "The loss or a gradient is not finite at step 5 (epoch 0, batch 6)", 0),
    ],
)
def test_nothing_is_saved_that_is_not_finite(planted, step, sentence, saved, tiny, monkeypatch):
    tiny.change(log_every=24)
    monkeypatch.setattr(ProcessInfo, "is_asynchronous", True)  # as on a GPU: no look at each step

    def spoiled(self: Updater, number: int, batches: list[Batch], tokens: int) -> None:
        if number == step and planted == "loss":
            self.summed_loss += float("nan")
        UPDATE(self, number, batches, tokens)
        if number == step and planted == "weights":
            with torch.no_grad():
                self.parameters[0][5] = float("inf")

    monkeypatch.setattr(Updater, "update", spoiled)
    error = tiny.error()
    assert sentence in error
    last = f"step {saved}" if saved else "the beginning"
    assert f"The last good checkpoint is that of {last}" in error
    names = [folder.name for folder in tiny.out.glob("checkpoints/*")]
    assert names == ["step-00000008"] * bool(saved)
    written = json.loads((tiny.out / "state" / "state.json").read_text())
    assert written["place"]["step"] == saved


def test_a_compiler_that_is_missing_is_one_sentence_and_the_run_goes_on_without(tiny, monkeypatch):
    def compiled(*_: object, **__: object) -> None:  # what Inductor raises after some seconds
        why = "InvalidCxxCompiler: No working C++ compiler found in (None, 'g++')"
        raise torch._dynamo.exc.TorchDynamoException(f"{why}\n\nSet TORCHDYNAMO_VERBOSE=1\n")

    monkeypatch.setattr(torch, "compile", lambda *_, **__: compiled)
    tiny.change(compile=True)
    assert (
        "torch.compile fails here: InvalidCxxCompiler: No working C++ compiler found in "
        "(None, 'g++'). Install a C compiler and Python's headers, set TORCHDYNAMO"
    ) in tiny.error()
    tiny.change(compile=False)
    tiny.train("--resume", "--steps", "1")


def test_a_full_disk_is_one_sentence(tiny: TinyRun, monkeypatch: pytest.MonkeyPatch) -> None:
    open_, room = Path.open, 0

    def open_while_there_is_room(path: Path, mode: str = "r", *options: Any, **named: Any) -> Any:
        nonlocal room
        # single files, such as tokenizer.model, are written in a folder of this name
        if mode[0] in "wx" and (path.suffix == full_at or path.parent.name.startswith(MARK)):
            room -= 1
            if room < 0:
                raise OSError(28, "No space left on device", path.name)
        return open_(path, mode, *options, **named)

    monkeypatch.setattr(Path, "open", open_while_there_is_room)
    full_at = ".safetensors"
    for room, advice, is_there in (  # noqa: B007
        (0, "another --out", False),  # the first state
        (1, "another --out", False),  # the vocabulary
        (2, "--resume", True),  # the log
        (3, "--resume", True),  # the second state
    ):
        error = tiny.error()  # on a line of its own, not behind the bar
        assert " cannot be written: No space left on device." in error
        assert advice in error
        assert tiny.out.exists() is is_there
        shutil.rmtree(tiny.out, ignore_errors=True)


def _with_room_for(tokens: int, patch: pytest.MonkeyPatch) -> None:
    """Give the device a memory."""
    forward = SummedLoss.forward

    def bounded(self: SummedLoss, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
        if max(source.numel(), target.numel()) > tokens:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        return forward(self, source, target, labels)

    patch.setattr(SummedLoss, "forward", bounded)


def test_a_run_goes_on_with_half_of_what_does_not_fit_to_the_same_curve(tiny, monkeypatch):
    tiny.change(P_drop=0.0, steps=6, log_every=2, lr_factor=0.3)
    whole = tiny.train(out="whole")
    with monkeypatch.context() as patch:
        _with_room_for(100, patch)
        error = tiny.error()
        match = re.search(
            r"GPU is full at step 1, with (\d+) tokens .* = (\d+) under.*--resume", error
        )
        assert match, error
        most, half = map(int, match.groups())
        assert 100 < most <= 200
        assert half == most // 2
        tiny.change(micro_batch_tokens=half)
        tiny.train("--resume")
    assert losses(tiny.out) == pytest.approx(losses(whole), rel=2e-5)


def test_a_device_without_room_for_one_pair_is_named(tiny, monkeypatch):
    tiny.change(micro_batch_tokens=1)
    _with_room_for(3, monkeypatch)
    assert "lower max_pieces or choose a smaller model" in tiny.error()
