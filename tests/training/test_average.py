"""The mean of checkpoints, and what is said where there is none or no room for it."""

import shutil
from pathlib import Path

import pytest
import safetensors.torch
import torch

from training.average import average, main, write_average
from training.run.state import checkpoints
from transformer import Tokenizer, Transformer, errors
from transformer.checkpoints import checkpoint
from transformer.files.installed import BUNDLED


@pytest.fixture
def run(tmp_path: Path, model: Transformer, tokenizer: Tokenizer) -> Path:
    """A run with the checkpoints of three steps, whose weights are 1, 2 and 6 times the model's."""
    folder = tmp_path / "run"
    for step, times in ((8, 1.0), (16, 2.0), (24, 6.0)):
        scaled = Transformer(model.config)
        scaled.load_state_dict({n: w * times for n, w in model.state_dict().items()})
        checkpoint.save(folder / "checkpoints" / f"step-{step:08d}", scaled, tokenizer)
    (folder / "run.jsonl").write_text('{"step": 0}\n')
    return folder


def _times(folder: Path, model: Transformer) -> float:
    """Return how many times the model's weights stand in a folder, the same for all of them."""
    result = checkpoint.load(folder).model.shared_embedding / model.shared_embedding
    assert result.std() < 1e-2
    return result.mean().item()


@pytest.mark.parametrize(("last", "mean"), [(1, 6), (9, 3)])
def test_the_last_checkpoints_are_averaged(last, mean, run, model, tmp_path):
    assert main([str(run), "--last", str(last), "--out", str(tmp_path / "mean")]) == 0
    assert _times(tmp_path / "mean", model) == pytest.approx(mean, rel=1e-3)
    assert (tmp_path / "mean" / "run.jsonl").read_text() == '{"step": 0}\n'
    weights = safetensors.torch.load_file(tmp_path / "mean" / "model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.float16}


def test_what_a_kill_left_half_written_is_no_checkpoint(run, model, tmp_path):
    whole = checkpoints(run)
    assert [path.name for path in whole] == ["step-00000008", "step-00000016", "step-00000024"]
    (run / "checkpoints" / "step-00000032.new").mkdir()
    shutil.copytree(whole[0], run / "checkpoints" / "step-00000024.before")
    assert checkpoints(run) == whole
    write_average(whole[-2:], tmp_path / "mean")
    assert _times(tmp_path / "mean", model) == pytest.approx(4, rel=1e-3)


def test_models_of_different_shapes_have_no_mean(run, tokenizer, model):
    changed = type(model.config)(**model.config.to_dict() | {"d_ff": 8})
    other = run / "checkpoints" / "step-00000032"
    checkpoint.save(other, Transformer(changed), tokenizer)
    with pytest.raises(errors.CheckpointError, match="step-00000032 holds another model than"):
        average(checkpoints(run))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none", "--out", "mean"], "There are no checkpoints to average"),
        (["run", "--out", "mean", "--card", "binary"], "binary is not UTF-8 at byte 3"),
        (["run", "--out", "file"], "file is there and is not a checkpoint: choose another folder"),
        (["run/checkpoints/step-00000008", "bundled", "--out", "mean"], f"{BUNDLED} holds another"),
    ],
)
def test_what_cannot_be_is_one_sentence(arguments, sentence, run, monkeypatch, capsys):
    monkeypatch.chdir(run.parent)
    Path("file").write_text("")
    Path("binary").write_bytes(b"abc\xff")
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err


def test_several_checkpoints_are_averaged_by_their_shares(run, model, tmp_path):
    oldest, _, three = checkpoints(run)
    shutil.copy(run / "run.jsonl", oldest)
    command = [str(oldest), str(three), "--shares", "0.6", "0.2", "--bfloat16"]
    command += ["--out", str(tmp_path / "mean")]
    assert main(command) == 0
    assert _times(tmp_path / "mean", model) == pytest.approx(0.75 * 1 + 0.25 * 6, rel=2**-8)
    assert (tmp_path / "mean" / "run.jsonl").read_text() == '{"step": 0}\n'
    weights = safetensors.torch.load_file(tmp_path / "mean" / "model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.bfloat16}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "--shares", "1"], "--shares are of several checkpoints"),
        (["a", "b", "--last", "2"], "--last is for one run"),
    ],
)
def test_an_option_of_the_other_kind_of_mean_is_refused(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--out", "mean"])
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err
