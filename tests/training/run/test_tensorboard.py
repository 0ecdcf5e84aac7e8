"""The event files that TensorBoard is given, read by TensorBoard itself."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.transformer.reference import is_one_sentence
from training.run.journal import Record, TensorBoard
from transformer import ConfigError

EVENTS: Any = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
PLAN: Record = {"step": 0, "parameters": 900, "steps": 40, "cooldown": 0, "precision": "bf16"}


def _trained(step: int, loss: float) -> Record:
    return {"step": step, "epoch": 0, "loss": loss, "lr": 0.5, "tokens_per_second": 9.5}


def _shown(folder: Path, tag: str) -> list[tuple[int, float]]:
    """Step and value of each point that TensorBoard draws."""
    read = EVENTS.EventAccumulator(str(folder))
    read.Reload()
    return [(event.step, event.value) for event in read.Scalars(tag)]


def test_each_number_is_a_scalar_under_a_name_that_groups(tmp_path: Path) -> None:
    board = TensorBoard(tmp_path, 0)
    board.write(PLAN)
    board.write(_trained(4, 2.5))
    board.write({"step": 4, "validation_loss": 2.0, "validation_bleu": 31.5})
    board.close()
    read = EVENTS.EventAccumulator(str(tmp_path))
    read.Reload()
    assert set(read.Tags()["scalars"]) == {
        "train/epoch", "train/loss", "train/lr", "train/tokens_per_second",
        "validation/loss", "validation/bleu",
    }  # fmt: skip
    assert _shown(tmp_path, "train/loss") == [(4, 2.5)]
    assert _shown(tmp_path, "validation/bleu") == [(4, 31.5)]
    (plan,) = read.Tensors("plan/text_summary")
    text = plan.tensor_proto.string_val[0].decode()
    assert plan.step == 0
    assert "| precision | bf16 |" in text
    assert "| parameters | 900 |" in text


def test_a_run_that_goes_on_shows_no_point_twice(tmp_path: Path) -> None:
    first = TensorBoard(tmp_path, 0)
    for step in (4, 8, 12):
        first.write(_trained(step, step / 4))
    first.close()
    # its last state was that of step 8
    second = TensorBoard(tmp_path, 8)
    for step in (12, 16):
        second.write(_trained(step, -step / 4))
    second.close()
    assert _shown(tmp_path, "train/loss") == [(4, 1), (8, 2), (12, -3), (16, -4)]


def test_a_record_is_on_the_disk_at_once(tmp_path: Path) -> None:
    """A run that is killed at this moment has it in its log, too."""
    board = TensorBoard(tmp_path, 0)
    board.write(_trained(4, 2.5))
    assert _shown(tmp_path, "train/loss") == [(4, 2.5)]
    board.close()


def test_without_tensorboard_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("torch.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ConfigError, match="TensorBoard is not installed: ") as error:
        TensorBoard(tmp_path / "board", 0)
    assert is_one_sentence(str(error.value))
    assert "pip install 'tensorboard>=" in str(error.value)
    assert not (tmp_path / "board").exists()
