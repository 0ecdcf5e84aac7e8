"""A GPU without room for a micro-batch: what fits is found, said, and enough to go on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.training.conftest import RECIPE
from tests.training.runs import command, losses
from training.train import main
from training.update import SummedLoss

FORWARD = SummedLoss.forward


def _with_room_for(tokens: int, patch: pytest.MonkeyPatch) -> list[int]:
    """Give the device a memory; what was computed on it is listed."""
    computed = []

    def forward(self: SummedLoss, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
        if (size := max(source.numel(), target.numel())) > tokens:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        computed.append(size)
        return FORWARD(self, source, target, labels)

    patch.setattr(SummedLoss, "forward", forward)
    return computed


def test_what_fits_is_found_and_the_run_goes_on_with_it_to_the_same_curve(
    data: Path,
    recipe: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = RECIPE.replace("P_drop = 0.1", "P_drop = 0.0").replace("steps = 24", "steps = 12")
    text = text.replace("lr_factor = 1.0", "lr_factor = 0.3")
    recipe.write_text(text)
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert main(command(recipe, data, whole)) == 0
    with monkeypatch.context() as patch:
        computed = _with_room_for(70, patch)
        capsys.readouterr()
        assert main(command(recipe, data, out)) == 2
        sentence = capsys.readouterr().err.rstrip("\n").rpartition("\n")[2]
        said = re.search(
            r"GPU is full at step 1: micro_batch_tokens = (\d+) fits; .*--resume", sentence
        )
        assert said, sentence
        fits = int(said[1])
        # the half of a half: of at most 200 tokens, one half had not fitted
        assert 35 < max(computed) <= fits <= 70
        recipe.write_text(text + f"micro_batch_tokens = {fits}\n")
        assert main(command(recipe, data, out, "--resume")) == 0
        assert max(computed) <= fits
    assert losses(out) == pytest.approx(losses(whole), rel=2e-5)


def test_a_device_without_room_for_one_pair_is_said(
    data: Path,
    recipe: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _with_room_for(3, monkeypatch)
    assert main(command(recipe, data, tmp_path / "out")) == 2
    assert "not even one sentence pair fits" in capsys.readouterr().err
