"""States that a run may go on from, and what it goes on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from training.config import Recipe, RunConfig
from training.devices import ProcessInfo
from training.run.state import Identity, Progress, Snapshot, load_state
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError
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
    Snapshot.take(PROGRESS, model, adam, losses, Identity(CONFIG, "the text")).write(folder)
    return model


def _load(folder: Path, *, rank: int = 0, processes: int = 1, text: str = "the text") -> float:
    """The loss that a process goes on from."""
    model, adam = _run()
    loss = torch.zeros(())
    process = ProcessInfo(torch.device("cpu"), rank, processes)
    progress, _ = load_state(folder, model, adam, loss, Identity(CONFIG, text), process)
    assert progress == PROGRESS
    return float(loss)


def test_another_number_of_processes_goes_on_from_the_same_losses(tmp_path: Path) -> None:
    _save(tmp_path / "state", [0.1, 0.2, 0.3])
    third = [float(torch.tensor(loss)) for loss in (0.1, 0.2, 0.3)]
    assert [_load(tmp_path / "state", rank=rank, processes=3) for rank in range(3)] == third
    assert _load(tmp_path / "state") == pytest.approx(0.6)
    losses = [_load(tmp_path / "state", rank=rank, processes=2) for rank in range(2)]
    assert losses == [pytest.approx(0.6), 0]


def _as_earlier(folder: Path, processes: int, accumulate: int) -> None:
    """Turn a state into one that versions before this one have written."""
    path = folder / "state.json"
    written: dict[str, Any] = json.loads(path.read_text())
    del written["text"], written["config"]["model"]["output_bias"]
    for name in ("micro_batch_tokens", "depth_scaled"):
        del written["config"]["training"][name]
    for name in ("length_multiple", "started_from"):
        del written["place"][name]
    written["config"]["training"]["accumulate"] = accumulate
    written["config"]["run"] = {"processes": processes}
    path.write_text(json.dumps(written))


def test_a_state_of_an_earlier_version_is_taken_where_its_updates_were_one_batch(
    tmp_path: Path,
) -> None:
    for processes, accumulate in ((1, 1), (2, 1), (1, 4)):
        folder = tmp_path / f"{processes}-{accumulate}" / "state"
        _save(folder, [0.5])
        _as_earlier(folder, processes, accumulate)
        if processes * accumulate == 1:
            assert _load(folder) == 0.5
            continue
        with pytest.raises(CheckpointError, match=f"with {processes * accumulate} batches in each"):
            _load(folder)
