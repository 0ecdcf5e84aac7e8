"""States that a run may go on from, and what it goes on with."""

from pathlib import Path

import pytest
import torch

from training.config import Recipe, RunConfig
from training.devices import ProcessInfo
from training.run.state import Progress, RunIdentity, load_state, read_state, save_state
from transformer.config import TransformerConfig
from transformer.model import Transformer

CONFIG = RunConfig(
    model=TransformerConfig(vocab_size=30, N=1, d_model=8, d_ff=16, h=2), recipe=Recipe()
)
PROGRESS = Progress(step=7, epoch=1, batch=3, unlogged_tokens=20)


def _run() -> tuple[Transformer, torch.optim.Adam]:
    model = Transformer(CONFIG.model)
    adam = torch.optim.Adam(model.parameters())
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    adam.step()
    return model, adam


def _save(folder: Path, losses: list[float]) -> Transformer:
    model, adam = _run()
    save_state(folder, PROGRESS, model, adam, losses, RunIdentity(CONFIG, "the text"))()
    return model


def _load(folder: Path, *, rank: int = 0, processes: int = 1, text: str = "the text") -> float:
    """The loss that a process goes on from."""
    model, adam = _run()
    loss = torch.zeros(())
    process = ProcessInfo(torch.device("cpu"), rank, processes)
    saved, tensors, _ = read_state(folder)
    load_state(saved, tensors, model, adam, loss, RunIdentity(CONFIG, text), process)
    assert saved.place == PROGRESS
    return float(loss)


def test_another_number_of_processes_goes_on_from_the_same_losses(tmp_path: Path) -> None:
    _save(tmp_path / "state", [0.1, 0.2, 0.3])
    third = [float(torch.tensor(loss)) for loss in (0.1, 0.2, 0.3)]
    assert [_load(tmp_path / "state", rank=rank, processes=3) for rank in range(3)] == third
    assert _load(tmp_path / "state") == pytest.approx(0.6)
    losses = [_load(tmp_path / "state", rank=rank, processes=2) for rank in range(2)]
    assert losses == [pytest.approx(0.6), 0]
