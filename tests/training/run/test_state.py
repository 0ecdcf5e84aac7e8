"""States that a run may go on from, and what it goes on with."""

from pathlib import Path
from unittest import mock

import pytest
import torch

from training import config, devices, update
from training.run.state import STATE, Progress, RunIdentity, Saver, read_state
from transformer.config import TransformerConfig
from transformer.model import Transformer

CONFIG = config.RunConfig(
    model=TransformerConfig(vocab_size=30, N=1, d_model=8, d_ff=16, h=2), recipe=config.Recipe()
)
PROGRESS = Progress(step=7, epoch=1, batch=3, unlogged_tokens=20)


def _saver(folder: Path, process: devices.ProcessInfo) -> Saver:
    model, here = Transformer(CONFIG.model), devices.ProcessInfo(torch.device("cpu"))
    updater = update.Updater(model, CONFIG, here)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    updater.optimizer.step()
    identity = RunIdentity(CONFIG, "the text")
    return Saver(folder, model, mock.Mock(), updater, identity, 1, process)


def _load(folder: Path, *, rank: int = 0, processes: int = 1) -> float:
    """The loss that a process goes on from."""
    saver = _saver(folder, devices.ProcessInfo(torch.device("cpu"), rank, processes))
    saved, tensors, _ = read_state(folder / STATE)
    saver.load_state(saved, tensors)
    assert saved.place == PROGRESS
    return float(saver.updater.summed_loss)


def test_another_number_of_processes_goes_on_from_the_same_losses(tmp_path: Path) -> None:
    saver = _saver(tmp_path, devices.ProcessInfo(torch.device("cpu")))
    with mock.patch.object(saver, "_losses", return_value=[0.1, 0.2, 0.3]):
        saver.save_state(PROGRESS)
    third = [float(torch.tensor(loss)) for loss in (0.1, 0.2, 0.3)]
    assert [_load(tmp_path, rank=rank, processes=3) for rank in range(3)] == third
    assert _load(tmp_path) == pytest.approx(0.6)
    losses = [_load(tmp_path, rank=rank, processes=2) for rank in range(2)]
    assert losses == [pytest.approx(0.6), 0]
