"""States that a run may go on from, and what it goes on with."""

import json
from pathlib import Path
from unittest import mock

import pytest
import torch

from training import config, devices, update
from training.run.state import STATE, STATE_JSON, Progress, RunIdentity, Saver, read_state
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
    saved, tensors = read_state(folder / STATE)
    saver.load_state(saved, tensors)
    assert saved.place == PROGRESS
    return float(saver.updater.summed_loss)


def test_the_losses_of_all_processes_add_up_to_the_one_that_was_saved(tmp_path: Path) -> None:
    saver = _saver(tmp_path, devices.ProcessInfo(torch.device("cpu")))
    saver.updater.summed_loss.fill_(0.6)
    saver.save_state(PROGRESS)
    for processes in (1, 2, 3):
        losses = [_load(tmp_path, rank=rank, processes=processes) for rank in range(processes)]
        assert losses == [pytest.approx(0.6), *[0.0] * (processes - 1)]


def test_a_kill_between_the_files_of_a_state_leaves_the_one_before(tmp_path, monkeypatch):
    saver = _saver(tmp_path, devices.ProcessInfo(torch.device("cpu")))
    saver.updater.summed_loss.fill_(0.5)
    saver.save_state(PROGRESS)
    replace, renamed = Path.replace, list[str]()

    def killed(path: Path, target: Path) -> Path:
        renamed.append(target.name)
        if target.name == STATE_JSON:
            raise KeyboardInterrupt
        return replace(path, target)

    saver.updater.summed_loss.fill_(0.7)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            saver.save_state(PROGRESS)
    assert len(renamed) == 2
    assert _load(tmp_path) == pytest.approx(0.5)
    (tmp_path / STATE / "thesis.txt").write_text("mine")
    saver.save_state(PROGRESS)
    assert _load(tmp_path) == pytest.approx(0.7)
    assert len([*(tmp_path / STATE).iterdir()]) == 3  # of the states before, nothing is left


def test_the_state_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    _saver(tmp_path, devices.ProcessInfo(torch.device("cpu"))).save_state(PROGRESS)
    (tensors,) = (tmp_path / STATE).glob("*.safetensors")
    tensors.rename(tensors.with_name("state.safetensors"))
    assert _load(tmp_path) == 0


def test_a_field_that_recipes_had_before_changes_nothing(tmp_path: Path) -> None:
    _saver(tmp_path, devices.ProcessInfo(torch.device("cpu"))).save_state(PROGRESS)
    path = tmp_path / STATE / STATE_JSON
    saved = json.loads(path.read_text("utf-8"))
    saved["config"]["training"]["patience"] = 0
    saved["place"]["without_gain"] = 3
    path.write_text(json.dumps(saved), "utf-8")
    assert _load(tmp_path) == 0
