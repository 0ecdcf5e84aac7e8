"""A run learns, can be cut anywhere, and goes on as if it had not been."""

from __future__ import annotations

import functools
import json
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from tests.training.conftest import RECIPE, sentence_pairs, write_pairs
from tests.training.runs import command, losses, same_weights, status_stopped_at, weights
from training.devices import ProcessInfo
from training.run import journal
from training.train import main
from transformer import KINDS, AttentionTrace
from transformer.checkpoints import checkpoint


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """The folder of a run that nothing interrupted."""
    folder = tmp_path_factory.mktemp("finished")
    recipe = folder / "tiny.toml"
    recipe.write_text(RECIPE, "utf-8")
    assert main(command(recipe, data, folder / "out")) == 0
    return folder / "out"


def test_the_loss_falls_far_below_guessing(data: Path, recipe: Path, tmp_path: Path) -> None:
    longer = RECIPE.replace("steps = 24", "steps = 150").replace("lr_factor = 1.0", "lr_factor = 2")
    longer = longer.replace("validate_every = 12", "validate_every = 150")
    recipe.write_text(longer.replace("P_drop = 0.1", "P_drop = 0.0\nepsilon_ls = 0.0"))
    assert main(command(recipe, data, tmp_path / "out")) == 0
    logged = list(losses(tmp_path / "out").values())
    assert logged[0] > 4
    assert logged[-1] < 1.6


def test_a_run_leaves_a_log_checkpoints_probes_and_their_average(finished: Path) -> None:
    records = journal.read(finished / "run.jsonl")
    assert [r["step"] for r in records if "loss" in r] == [4, 8, 12, 16, 20, 24]
    assert records[0].items() >= {"step": 0, "d_model": 32, "warmup": 12, "lr_factor": 1.0}.items()
    assert {"step", "epoch", "loss", "lr", "tokens_per_second", "seconds"} <= records[1].keys()
    measured = [r for r in records if "validation_loss" in r]
    assert [r["step"] for r in measured] == [12, 24]
    assert {"validation_perplexity", "validation_bleu", "validation_chrf"} <= measured[0].keys()
    kept = sorted(path.name for path in (finished / "checkpoints").iterdir())
    assert kept == ["step-00000016", "step-00000024"]
    watched = {1, 2, 4, 8, 16, 12, 24}  # the early ones, and those of the validations
    assert sorted(path.name for path in (finished / "probes").iterdir()) == [
        f"step-{step:08d}-sentence-{number}.npz" for step in sorted(watched) for number in (1, 2, 3)
    ]
    assert checkpoint.load(finished / "averaged").model.config.d_model == 32


def test_the_average_is_the_mean_of_the_last_checkpoints(finished: Path) -> None:
    first, second = (
        safetensors.torch.load_file(path / "model.safetensors")
        for path in sorted((finished / "checkpoints").iterdir())
    )
    averaged = safetensors.torch.load_file(finished / "averaged" / "model.safetensors")
    for name, value in averaged.items():
        mean = (first[name].double() + second[name].double()) / 2
        torch.testing.assert_close(value.double(), mean, rtol=1e-3, atol=1e-6)
    assert not same_weights(first, second)


def test_the_same_run_gives_the_same_weights(
    finished: Path, data: Path, recipe: Path, tmp_path: Path
) -> None:
    assert main(command(recipe, data, tmp_path / "again")) == 0
    assert same_weights(weights(tmp_path / "again"), weights(finished))


@pytest.fixture(scope="module")
def _stopped(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    folder = tmp_path_factory.mktemp("stopped")
    recipe = folder / "tiny.toml"
    recipe.write_text(RECIPE, "utf-8")
    assert main(command(recipe, data, folder / "out", "--steps", "16")) == 0
    return folder / "out"


@pytest.fixture
def interrupted(_stopped: Path, tmp_path: Path) -> Path:
    """The folder of a run that has states of steps 8 and 16, for each test its own."""
    return Path(shutil.copytree(_stopped, tmp_path / "out"))


def test_a_run_can_be_made_longer(
    finished: Path, interrupted: Path, data: Path, recipe: Path
) -> None:
    assert main(command(recipe, data, interrupted, "--resume")) == 0
    assert same_weights(weights(interrupted), weights(finished))
    assert main(command(recipe, data, interrupted, "--resume")) == 0  # nothing is left to do
    assert _plans(interrupted) == {0: 16, 16: 24}
    assert _plans(finished) == {0: 24}


def _plans(out: Path) -> dict[int, int]:
    """How long the run was to be, by the step at which its log says so."""
    said = [record for record in journal.read(out / "run.jsonl") if "steps" in record]
    assert len({record["step"] for record in said}) == len(said)
    return {int(record["step"]): int(record["steps"]) for record in said}


@pytest.mark.parametrize("name", ["state.safetensors", "state.json"])
def test_a_damaged_state_falls_back_to_the_one_before(
    name: str,
    finished: Path,
    interrupted: Path,
    data: Path,
    recipe: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = interrupted / "state" / name
    path.write_bytes(path.read_bytes()[:-20])
    assert main(command(recipe, data, interrupted, "--resume")) == 0
    assert "Its backup is undamaged" in capsys.readouterr().err
    assert same_weights(weights(interrupted), weights(finished))


def test_two_damaged_states_are_one_sentence(
    interrupted: Path, data: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("state", "state.before"):
        (interrupted / folder / "state.json").write_text("{")
    assert main(command(recipe, data, interrupted, "--resume")) == 2
    assert capsys.readouterr().err.count("is damaged") == 2


def test_a_damaged_log_is_one_sentence(
    interrupted: Path, data: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (interrupted / "run.jsonl").write_text("nonsense\n")
    assert main(command(recipe, data, interrupted, "--resume")) == 2
    error = capsys.readouterr().err
    assert f"Line 1 of {interrupted / 'run.jsonl'} is no record of a run" in error
    assert "Traceback" not in error


def test_a_changed_configuration_is_refused_by_name(
    interrupted: Path, data: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe.write_text(RECIPE.replace("warmup = 12", "warmup = 13"))
    assert main(command(recipe, data, interrupted, "--resume")) == 2
    assert "[training] warmup was 12 when the run began and is 13 now" in capsys.readouterr().err


@pytest.mark.timeout(300)  # a minute where the cores are free
def test_probes_are_read_from_a_model_whose_layers_are_compiled(
    data: Path, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # traced as on a GPU, but run by PyTorch itself: no C++ compiler is needed; and without dropout,
    # at which a CPU cuts the graphs
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    text = RECIPE.replace("steps = 24", "steps = 1").replace("P_drop = 0.1", "P_drop = 0.0")
    text = text.replace("validate_every = 12", "validate_every = 1")
    recipe.write_text(text + "compile = true\n")
    assert main(command(recipe, data, tmp_path / "compiled")) == 0
    recipe.write_text(text)
    assert main(command(recipe, data, tmp_path / "plain")) == 0
    for number in (1, 2, 3):
        name = f"probes/step-00000001-sentence-{number}.npz"
        compiled, plain = (
            AttentionTrace.load(tmp_path / run / name) for run in ("compiled", "plain")
        )
        for kind in KINDS:
            np.testing.assert_allclose(compiled.weights(kind), plain.weights(kind), atol=1e-3)
            np.testing.assert_allclose(compiled.weights(kind).sum(-1), 1, atol=1e-5)
    measured = [
        r for r in journal.read(tmp_path / "compiled" / "run.jsonl") if "validation_bleu" in r
    ]
    assert [r["step"] for r in measured] == [1]


def test_bf16_that_would_be_emulated_is_float32_and_said(
    data: Path,
    recipe: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for native, precision in ((False, "float32"), (True, "bf16")):
        monkeypatch.setattr(ProcessInfo, "has_native_bf16", native)
        recipe.write_text(RECIPE.replace("bf16 = false", "bf16 = true"))
        assert main(command(recipe, data, tmp_path / precision, "--steps", "2")) == 0
        assert (
            journal.plan(journal.read(tmp_path / precision / "run.jsonl"))["precision"] == precision
        )
        said = "would have to emulate bfloat16" in capsys.readouterr().out
        assert said is not native
    recipe.write_text(RECIPE)
    assert main(command(recipe, data, tmp_path / "asked", "--steps", "2")) == 0
    assert "bfloat16" not in capsys.readouterr().out
    assert same_weights(weights(tmp_path / "asked"), weights(tmp_path / "float32"))


def test_validation_pairs_that_are_left_out_are_told_of_once(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pairs(tmp_path / "train", sentence_pairs(300))
    write_pairs(tmp_path / "valid", [("", "Der Hund."), *sentence_pairs(9, seed=2)])
    assert main(command(recipe, tmp_path, tmp_path / "out", "--steps", "2")) == 0
    assert capsys.readouterr().out.count("1 validation pairs are left out") == 1
    plan = journal.plan(journal.read(tmp_path / "out" / "run.jsonl"))
    assert (plan["left_out"], plan["validation_left_out"]) == (0, 1)


def test_no_run_to_resume_and_a_run_in_the_way_are_said(
    interrupted: Path,
    data: Path,
    recipe: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(command(recipe, data, tmp_path / "none", "--resume")) == 2
    assert "holds no run" in capsys.readouterr().err
    assert main(command(recipe, data, interrupted)) == 2
    assert "holds a run already" in capsys.readouterr().err


def test_patience_ends_a_run_that_gains_nothing(data: Path, recipe: Path, tmp_path: Path) -> None:
    idle = RECIPE.replace("lr_factor = 1.0", "lr_factor = 1e-12\npatience = 2")
    idle = idle.replace("validate_every = 12", "validate_every = 4")
    recipe.write_text(idle.replace("save_every = 8", "save_every = 20"))
    out = tmp_path / "out"
    assert main(command(recipe, data, out)) == 0
    assert max(losses(out)) == 12
    assert [folder.name for folder in (out / "checkpoints").iterdir()] == ["step-00000012"]
    assert json.loads((out / "state" / "state.json").read_text())["place"]["step"] == 12
    assert checkpoint.load(out / "averaged").model.config.d_model == 32


def test_a_stopped_run_gives_the_signals_back_and_may_be_ended_where_it_is(
    data: Path, recipe: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    handlers = [signal.getsignal(name) for name in (signal.SIGTERM, signal.SIGINT)]
    assert status_stopped_at(3, command(recipe, data, out)) == 0
    assert [signal.getsignal(name) for name in (signal.SIGTERM, signal.SIGINT)] == handlers
    assert not (out / "checkpoints").exists()
    assert main(command(recipe, data, out, "--resume", "--steps", "3")) == 0
    assert [folder.name for folder in (out / "checkpoints").iterdir()] == ["step-00000003"]
    assert (out / "averaged").is_dir()


def test_bf16_trains_and_resumes_like_the_rest(
    data: Path, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProcessInfo, "has_native_bf16", True)
    recipe.write_text(RECIPE.replace("bf16 = false", ""))
    assert main(command(recipe, data, tmp_path / "whole")) == 0
    assert main(command(recipe, data, tmp_path / "cut", "--steps", "16")) == 0
    assert main(command(recipe, data, tmp_path / "cut", "--resume")) == 0
    assert same_weights(weights(tmp_path / "whole"), weights(tmp_path / "cut"))


def test_the_state_on_disk_is_json_and_safetensors(finished: Path) -> None:
    state = json.loads((finished / "state" / "state.json").read_text())
    assert state["place"]["step"] == 24
    assert {path.name for path in (finished / "state").iterdir()} == {
        "state.json",
        "state.safetensors",
    }
