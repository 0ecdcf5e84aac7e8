"""What is wrong with a command is one sentence on standard error and exit status 2."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.conftest import sentence_pairs, write_pairs
from tests.training.runs import same_weights, status_stopped_at, weights
from tests.transformer.checkpoints.marian import marian_folder
from training import model_card, prepare, train
from training.run import journal
from training.run.journal import Record
from training.train import LOCK, main
from training.trainer import Trainer
from transformer.checkpoints import checkpoint
from transformer.errors import ConfigError
from transformer.files.installed import BUNDLED
from transformer.text.tokenizer import Tokenizer


def _error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err
    return printed.err


def test_files_of_different_length(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("train.en", "valid.en", "valid.de"):
        (tmp_path / name).write_text((data / name).read_text())
    (tmp_path / "train.de").write_text("Nur eine Zeile.\n")
    command = ["--config", str(recipe), "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert "each line must stand beside its translation" in _error(command, capsys)


def test_heads_that_do_not_divide(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe.write_text(recipe.read_text().replace("h = 2", "h = 3"))
    command = ["--config", str(recipe), "--data", str(data), "--out", str(tmp_path / "out")]
    assert "d_model = 32 cannot be divided among h = 3 heads" in _error(command, capsys)


def test_a_vocabulary_larger_than_the_text(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe.write_text(recipe.read_text().replace("vocab_size = 120", "vocab_size = 9000"))
    command = ["--config", str(recipe), "--data", str(data), "--out", str(tmp_path / "out")]
    assert "No vocabulary of 9000 pieces" in _error(command, capsys)


def test_missing_files(recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--config", str(recipe), "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert "train.en cannot be read" in _error(command, capsys)


def test_a_folder_that_cannot_be_written(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    command = ["--config", str(recipe), "--data", str(data), "--out", str(tmp_path / "file")]
    assert main(command) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(
        f"training.train: {tmp_path / 'file'} cannot be written: Not a directory."
    )
    assert said.endswith("or choose another --out.")


@pytest.mark.parametrize(
    "change",
    [
        ("[training]", "[training]\naccumulate = 2", "write as micro_batch_tokens what batch_tok"),
        ("vocab_size = 120", "vocab_size = 100_000", "No vocabulary of 100000 pieces"),
        ("d_ff = 64", "d_ff = 200_000\nd_k = 16_000\nd_v = 16_000\npositions = 'learned'", ""),
    ],
)
def test_a_refusal_leaves_nothing_behind(
    data: Path,
    recipe: Path,
    tmp_path: Path,
    change: tuple[str, str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    old, new, sentence = change
    text = recipe.read_text().replace(old, new)
    recipe.write_text(text if sentence else text.replace("N = 1", "N = 200"))
    out = tmp_path / "deep" / "out"
    said = _error(["--config", str(recipe), "--data", str(data), "--out", str(out)], capsys)
    assert (sentence or "but at most 1,073,741,824 are possible: choose smaller sizes.") in said
    assert not out.parent.exists()


def _files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Each file below a folder, with its content and when it was written, and each folder."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        if path.is_file()
        else (b"", 0)  # a lock comes and goes
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("holds", ["model", "tokenizer.model", "run.jsonl", ".hidden", "state.old"])
@pytest.mark.parametrize("resume", [[], ["--resume"]], ids=["new", "resume"])
def test_a_folder_that_is_no_run_is_left_to_the_last_byte(
    holds: str,
    resume: list[str],
    data: Path,
    recipe: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    if holds == "model":
        shutil.copytree(BUNDLED, out)
    else:
        out.mkdir()
        (out / holds).write_text("mine", "utf-8")
    before = _files(tmp_path)
    said = _error(
        ["--config", str(recipe), "--data", str(data), "--out", str(out), *resume], capsys
    )
    first = "MANIFEST.json" if holds == "model" else holds
    assert said == f"training.train: {out} " + (
        "holds no run to resume: leave out --resume.\n"
        if resume
        else f"holds '{first}', and no run: choose a new or an empty folder as --out.\n"
    )
    assert _files(tmp_path) == before


def test_there_is_no_run_in_a_folder_that_is_empty_or_missing(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    before = _files(tmp_path)
    for name in ("empty", "deep/missing"):
        out = str(tmp_path / name)
        command = ["--config", str(recipe), "--data", str(data), "--out", out, "--resume"]
        assert "holds no run to resume: leave out --resume." in _error(command, capsys)
    assert _files(tmp_path) == before


@pytest.mark.parametrize("moment", ["read_run_data", "Trainer.run"])
@pytest.mark.parametrize("first", [[], ["--resume"]], ids=["new", "resume"])
def test_one_process_trains_in_a_folder_and_a_second_changes_nothing(
    first: list[str],
    moment: str,
    data: Path,
    recipe: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    command = ["--config", str(recipe), "--data", str(data), "--out", str(out)]
    if first:
        assert main([*command, "--steps", "4"]) == 0
        capsys.readouterr()
    target = Trainer if moment == "Trainer.run" else train
    name = moment.rpartition(".")[2]
    original, others = getattr(target, name), iter([[], ["--resume"]])

    def meanwhile(*given: Any) -> Any:
        for more in others:
            before = _files(tmp_path)
            said = _error([*command, *more], capsys)
            assert said == (
                f"training.train: {out} is being trained in by another process: wait until it has "
                f"finished, or choose another --out.\n"
            )
            assert _files(tmp_path) == before
        return original(*given)

    monkeypatch.setattr(target, name, meanwhile)
    assert main([*command, *first]) == 0
    assert next(others, None) is None
    assert [r["step"] for r in journal.read(out / "run.jsonl") if "loss" in r] == [
        4,
        8,
        12,
        16,
        20,
        24,
    ]
    assert not (out / LOCK).exists()


def test_a_run_that_is_further_than_the_steps_that_are_asked_for_is_refused(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--config", str(recipe), "--data", str(data), "--out", str(tmp_path / "out")]
    assert main([*command, "--steps", "4"]) == 0
    before = _files(tmp_path / "out")
    capsys.readouterr()
    assert "is at step 4 already, but 2 steps" in _error(
        [*command, "--resume", "--steps", "2"], capsys
    )
    assert _files(tmp_path / "out") == before


def test_a_run_can_be_resumed_from_its_beginning(
    data: Path, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["--config", str(recipe), "--data", str(data), "--out"]
    assert main([*command, str(tmp_path / "whole")]) == 0

    def killed(_: Trainer) -> bool:
        raise KeyboardInterrupt

    out = tmp_path / "out"
    # of a start that was killed
    leftover = out / "state.headlight-abcd_123" / "new"
    leftover.mkdir(parents=True)
    (leftover / "state.safetensors").write_bytes(b"half")
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "run", killed)
        assert main([*command, str(out)]) == 130
    assert {path.name for path in out.iterdir()} == {"state", "tokenizer.model"}
    assert main([*command, str(out), "--resume"]) == 0
    assert same_weights(weights(out), weights(tmp_path / "whole"))


def test_fewer_steps_have_a_shorter_cooldown_and_more_steps_that_of_the_configuration(
    data: Path, recipe: Path, tmp_path: Path
) -> None:
    recipe.write_text(recipe.read_text().replace("steps = 24", "steps = 24\ncooldown = 12"))
    command = ["--config", str(recipe), "--data", str(data), "--out", str(tmp_path / "out")]
    planned = []
    for more in (["--steps", "8"], ["--resume"], ["--resume", "--steps", "28"]):
        assert main([*command, *more]) == 0
        plan = journal.plan(journal.read(tmp_path / "out" / "run.jsonl"))
        planned.append((plan["steps"], plan["cooldown"]))
    assert planned == [(8, 4), (24, 12), (28, 12)]


def test_a_run_may_go_on_from_its_text_as_it_was_prepared_and_from_no_other(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    command = ["--config", str(recipe), "--data", f"{data}:0.7"]
    assert main([*command, "--out", str(whole)]) == 0
    assert main([*command, "--out", str(out), "--steps", "16"]) == 0
    prepared = ["--out", str(tmp_path / "prepared"), "--tokenizer", str(out / "averaged")]
    assert prepare.main([*command, *prepared]) == 0
    capsys.readouterr()

    before = _files(out)
    other = tmp_path / "other"
    other.mkdir()
    for name in ("train", "valid"):
        write_pairs(other / name, sentence_pairs(300, seed=3))
    for changed in (str(data), str(other), f"{data}:0.8"):
        resume = ["--config", str(recipe), "--data", changed, "--out", str(out), "--resume"]
        assert "The training text of --data is not the one that the run" in _error(resume, capsys)
    assert _files(out) == before

    on_prepared = ["--config", str(recipe), "--data", str(tmp_path / "prepared"), "--out"]
    assert main([*on_prepared, str(out), "--resume"]) == 0
    assert same_weights(weights(out), weights(whole))

    lines = [line for pair in sentence_pairs(300, seed=4) for line in pair]
    start = ["--start-from", str(tmp_path / "start")]
    model = checkpoint.load(out / "averaged").model
    checkpoint.save(tmp_path / "start", model, Tokenizer.train(map(str.upper, lines), 120))
    capsys.readouterr()
    said = _error([*on_prepared, str(tmp_path / "third"), *start], capsys)
    assert f"another vocabulary than that of {tmp_path / 'start'}" in said
    assert not (tmp_path / "third").exists()


def test_tensorboard_gets_the_log_and_is_missed_before_anything_is_written(
    data: Path,
    recipe: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[tuple[Path, int, int]] = []

    class Here:
        def __init__(self, folder: Path, after_step: int) -> None:
            self.folder, self.after_step = folder, after_step

        def write(self, record: Record) -> None:
            written.append((self.folder, self.after_step, int(record["step"])))

        def close(self) -> None:
            """Nothing is open."""

    def missing(*_: object) -> None:
        raise ConfigError("TensorBoard is not installed.")

    out = tmp_path / "deep" / "out"
    command = ["--config", str(recipe), "--data", str(data), "--out", str(out), "--tensorboard"]
    monkeypatch.setattr(train, "TensorBoard", missing)
    assert "TensorBoard is not installed." in _error(command, capsys)
    assert not out.parent.exists()
    for module in (train, journal):
        monkeypatch.setattr(module, "TensorBoard", Here)
    assert main([*command, "--steps", "8"]) == 0
    assert main([*command, "--resume"]) == 0
    folder = out / "tensorboard"
    records = [(folder, 8 * (step > 8), step) for step in (0, 4, 8, 8, 8, 12, 12, 16, 20, 24, 24)]
    records[4] = (folder, 8, 8)  # the plan of the longer run
    assert written == records
    assert [record["step"] for record in journal.read(out / "run.jsonl")] == [r[2] for r in records]


def test_a_run_that_cannot_be_resumed_is_left_as_it_is(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["--config", str(recipe), "--data", str(data), "--out", str(out)]
    assert main([*command, "--steps", "20"]) == 0
    # as after a kill between a checkpoint and its state
    shutil.copytree(out / "checkpoints" / "step-00000020", out / "checkpoints" / "step-00000022")
    (out / "run.jsonl").write_text("nonsense\n")
    before = _files(out)
    capsys.readouterr()
    for change, sentence in (("", "Line 1 of"), ("seed = 2\n", "seed was 1 when the run began")):
        recipe.write_text(recipe.read_text() + change)
        assert sentence in _error([*command, "--resume"], capsys)
    assert _files(out) == before


def test_a_run_starts_from_a_checkpoint(data: Path, recipe: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    command = ["--config", str(recipe), "--data", str(data)]
    assert main([*command, "--out", str(first)]) == 0
    # a rate of nearly 0 leaves the weights where they began, and dropout may be another
    recipe.write_text(
        recipe.read_text()
        .replace("lr_factor = 1.0", "lr_factor = 1e-9")
        .replace("P_drop = 0.1", "P_drop = 0.3")
    )
    # other text, of which another vocabulary would be learnt
    other = tmp_path / "other"
    other.mkdir()
    for name in ("train", "valid"):
        write_pairs(other / name, [(a.upper(), b.upper()) for a, b in sentence_pairs(300, seed=3)])
    command = ["--config", str(recipe), "--data", str(other)]
    start = str(first / "averaged")
    started = ["--out", str(second), "--start-from", start]
    assert status_stopped_at(2, [*command, *started]) == 0
    (second / "run.jsonl").unlink()  # as of a run that is killed before it has one
    assert main([*command, "--out", str(second), "--resume"]) == 0
    given = hashlib.sha256((first / "averaged" / "model.safetensors").read_bytes()).hexdigest()
    assert journal.plan(journal.read(second / "run.jsonl"))["started_from"] == given
    assert "started_from" not in journal.plan(journal.read(first / "run.jsonl"))
    assert model_card.main([str(second), "--out", str(tmp_path / "CARD.md")]) == 0
    card = (tmp_path / "CARD.md").read_text("utf-8")
    assert f"first weights of the checkpoint with SHA-256 {given[:12]}…" in card
    then = checkpoint.load(first / "averaged")
    now = checkpoint.load(second / "averaged")
    assert now.tokenizer.model == then.tokenizer.model
    for name, weight in then.model.state_dict().items():
        torch.testing.assert_close(now.model.state_dict()[name], weight, atol=1e-6, rtol=0)
    assert now.model.config.P_drop == 0.3


def test_a_run_may_be_deeper_than_what_it_starts_from(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    command = ["--config", str(recipe), "--data", str(data)]
    assert main([*command, "--out", str(first)]) == 0
    deeper = recipe.read_text().replace("lr_factor = 1.0", "lr_factor = 1e-9")
    recipe.write_text(deeper.replace("N = 1", "N = 2"))
    start = ["--start-from", str(first / "averaged")]
    assert main([*command, "--out", str(second), *start]) == 0
    then, now = (checkpoint.load(run / "averaged").model.eval() for run in (first, second))
    assert now.config.N == 2
    ids = torch.tensor([[5, 6, 7, 3]])
    torch.testing.assert_close(now(ids, ids), then(ids, ids), atol=1e-3, rtol=1e-3)

    recipe.write_text(deeper.replace("N = 1", "N = 3"))
    start = ["--start-from", str(second / "averaged")]
    capsys.readouterr()
    said = _error([*command, "--out", str(tmp_path / "third"), *start], capsys)
    assert "a model of N = 2, but" in said
    assert "says 3: write there what the checkpoint has, or a multiple of it." in said


def test_a_checkpoint_of_another_shape_is_no_start(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--config", str(recipe), "--data", str(data)]
    assert main([*command, "--out", str(tmp_path / "first"), "--steps", "2"]) == 0
    recipe.write_text(recipe.read_text().replace("d_ff = 64", "d_ff = 48"))
    start = str(tmp_path / "first" / "averaged")
    capsys.readouterr()
    said = _error([*command, "--out", str(tmp_path / "out"), "--start-from", start], capsys)
    assert "holds a model of d_ff = 64" in said
    assert "says 48" in said


def test_a_marian_folder_is_no_start(
    data: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marian_folder.write(tmp_path / "marian")
    command = ["--config", str(recipe), "--data", str(data), "--out", str(tmp_path / "out")]
    said = _error([*command, "--start-from", str(tmp_path / "marian")], capsys)
    assert "is a MarianMT folder, which can be read and not trained" in said
    assert not (tmp_path / "out").exists()
