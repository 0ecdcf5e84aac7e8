"""A wrong command gets one sentence on standard error and exit status 2."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.conftest import TinyRun, sentence_pairs, write_pairs
from tests.training.runs import losses, same_weights, status_stopped_at, weights
from tests.transformer.checkpoints.marian import marian_folder
from training import prepare, trainer
from training.data import run_data
from training.run import journal
from training.train import LOCK
from transformer.checkpoints import checkpoint
from transformer.files import installed
from viz.app import model_variations

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"h": 3}, "d_model = 32 cannot be divided among h = 3 heads"),
        (
            {"N": 200, "d_ff": "200_000\nd_k = 16_000\nd_v = 16_000\npositions = 'learned'"},
            "but at most 1,073,741,824 are possible: choose smaller sizes.",
        ),
    ],
)
def test_a_refusal_leaves_nothing_behind(tiny, changes, sentence):
    tiny.change(**changes)
    assert sentence in tiny.refusal(out="deep/out")
    assert not (tiny.folder / "deep").exists()


def _files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Each file below a folder, with its content and when it was written, and each folder."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        if path.is_file()
        else (b"", 0)  # a lock comes and goes
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("holds", ["model", ".hidden"])
@pytest.mark.parametrize("resume", [[], ["--resume"]], ids=["new", "resume"])
def test_a_folder_that_is_no_run_is_left_to_the_last_byte(holds, resume, tiny):
    if holds == "model":
        shutil.copytree(installed.BUNDLED, tiny.out)
    else:
        tiny.out.mkdir()
        (tiny.out / holds).write_text("mine", "utf-8")
    before = _files(tiny.folder)
    first = "MANIFEST.json" if holds == "model" else holds
    assert tiny.refusal(*resume) == f"headlight train: {tiny.out} " + (
        "holds no run to resume: leave out --resume."
        if resume
        else f"holds '{first}', and no run: choose a new or an empty folder as --out."
    )
    assert _files(tiny.folder) == before


@pytest.mark.parametrize(
    ("first", "moment"), [([], "read_run_data"), (["--resume"], "Trainer.run")]
)
def test_one_process_trains_in_a_folder_and_a_second_changes_nothing(
    first, moment, tiny, monkeypatch
):
    tiny.change(steps=8)
    if first:
        tiny.train("--steps", "4")
    target = trainer.Trainer if moment == "Trainer.run" else run_data
    name = moment.rpartition(".")[2]
    original, others = getattr(target, name), iter([[], ["--resume"]])

    def meanwhile(*given: Any) -> Any:
        for more in others:
            before = _files(tiny.folder)
            assert tiny.refusal(*more) == (
                f"headlight train: {tiny.out} is being trained in by another process: wait until "
                f"it has finished, or choose another --out."
            )
            assert _files(tiny.folder) == before
        return original(*given)

    monkeypatch.setattr(target, name, meanwhile)
    tiny.train(*first)
    assert next(others, None) is None
    assert list(losses(tiny.out)) == [4, 8]
    assert not (tiny.out / LOCK).exists()


def test_fewer_steps_have_a_shorter_cooldown_and_more_steps_that_of_the_configuration(tiny):
    tiny.change(steps=12, cooldown=6)
    planned = []
    for more in (["--steps", "4"], ["--resume"], ["--resume", "--steps", "14"]):
        plan = journal.plan(journal.read(tiny.train(*more) / "run.jsonl"))
        planned.append((plan["steps"], plan["cooldown"]))
    assert planned == [(4, 2), (12, 6), (14, 6)]


def test_a_run_may_go_on_from_its_text_as_it_was_prepared_and_from_no_other(tiny: TinyRun) -> None:
    tiny.change(steps=8)
    part = f"{tiny.data}:0.7"
    whole = tiny.train(out="whole", data=part)
    out = tiny.train("--steps", "4", data=part)
    arguments = tiny.command("--tokenizer", str(out / "averaged"), out="prepared", data=part)
    assert prepare.main(arguments) == 0

    before = _files(out)
    other = tiny.folder / "other"
    other.mkdir()
    for name in ("train", "valid"):
        write_pairs(other / name, sentence_pairs(300, seed=3))
    for changed in (tiny.data, other, f"{tiny.data}:0.8"):
        refusal = tiny.refusal("--resume", data=changed)
        assert "The training text of --data is not the one that the run" in refusal
    assert _files(out) == before

    prepared = tiny.folder / "prepared"
    tiny.train("--resume", data=prepared)
    assert same_weights(weights(out), weights(whole))


def test_a_run_that_cannot_be_resumed_is_left_as_it_is(tiny: TinyRun, interrupted: Path) -> None:
    before = _files(interrupted)
    assert "is at step 16 already, but 2 steps" in tiny.refusal("--resume", "--steps", "2")
    assert _files(interrupted) == before
    # as after a kill between a checkpoint and its state
    folder = interrupted / "checkpoints"
    shutil.copytree(folder / "step-00000016", folder / "step-00000018")
    (interrupted / "run.jsonl").write_text("nonsense\n")
    before = _files(interrupted)
    for seed, sentence in (
        (1, f"Line 1 of {interrupted / 'run.jsonl'} is not a record of a run"),
        (2, "[training] seed was 1 when the run began and is 2 now"),
    ):
        tiny.change(seed=seed)
        assert sentence in tiny.refusal("--resume")
    assert _files(interrupted) == before


def test_a_run_starts_from_a_checkpoint(tiny: TinyRun, finished: Path) -> None:
    # a rate of nearly 0 leaves the weights where they began, and dropout may be another
    tiny.change(lr_factor=1e-9, P_drop=0.3)
    # other text, of which another vocabulary would be learnt
    other = tiny.folder / "other"
    other.mkdir()
    for name in ("train", "valid"):
        write_pairs(other / name, [(a.upper(), b.upper()) for a, b in sentence_pairs(300, seed=3)])
    start = finished / "averaged"
    command = tiny.command("--start-from", str(start), data=other)
    assert status_stopped_at(2, command) == 0
    (tiny.out / "run.jsonl").unlink()  # as of a run that is killed before it has one
    tiny.train("--resume", data=other)
    given = hashlib.sha256((start / "model.safetensors").read_bytes()).hexdigest()
    assert journal.plan(journal.read(tiny.out / "run.jsonl"))["started_from"] == given
    assert "started_from" not in journal.plan(journal.read(finished / "run.jsonl"))
    then, now = (checkpoint.load(run / "averaged") for run in (finished, tiny.out))
    assert now.tokenizer.model == then.tokenizer.model
    for name, weight in then.model.state_dict().items():
        torch.testing.assert_close(now.model.state_dict()[name], weight, atol=1e-6, rtol=0)
    assert now.model.config.P_drop == 0.3


def test_a_checkpoint_of_another_shape_or_kind_is_no_start(tiny: TinyRun, finished: Path) -> None:
    tiny.change(d_ff=48)
    refusal = tiny.refusal("--start-from", str(finished / "averaged"))
    assert "holds a model of d_ff = 64" in refusal
    assert "says 48" in refusal
    marian_folder.write(tiny.folder / "marian")
    refusal = tiny.refusal("--start-from", str(tiny.folder / "marian"))
    assert "is a MarianMT folder, which can be read and not trained" in refusal
    assert f"{installed.BUNDLED} holds a model of" in tiny.refusal("--start-from", "bundled")
    assert not tiny.out.exists()


def test_a_finished_run_has_what_the_page_reads_of_a_row(finished: Path, tmp_path: Path) -> None:
    for name in ("config.json", "run.jsonl"):  # as `make rows` copies them
        (tmp_path / "new").mkdir(exist_ok=True)
        shutil.copy(finished / "averaged" / name, tmp_path / "new")
    ((row,), problems) = model_variations.read_all(tmp_path)
    assert problems == []
    assert (row.name, row.steps, row.config.N, row.config.d_model) == ("new", 24, 1, 32)
    assert row.parameters == sum(x.numel() for x in weights(finished).values())
