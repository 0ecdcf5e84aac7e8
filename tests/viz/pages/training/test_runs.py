"""The runs that the Training page offers, their saved attention, and the messages on others."""

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.viz.planted_trace import planted
from transformer import CheckpointError
from transformer.files.installed import BUNDLED, BUNDLED_BY_NAME, FORMING
from viz.app.models.menu import CHECKPOINT_VARIABLE
from viz.pages.training import runs
from viz.pages.training.runs import (
    FORMING_NAME,
    LIVE_SECONDS,
    RUNS_VARIABLE,
    find,
    is_live,
    known_runs,
    load,
)

BUNDLED_RUNS = (FORMING_NAME, *BUNDLED_BY_NAME)


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to serve from, with two runs; the second is the newer one."""
    monkeypatch.delenv(RUNS_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    for age, name in ((60, "old"), (0, "new")):
        log = tmp_path / "runs" / name / "run.jsonl"
        log.parent.mkdir(parents=True)
        log.write_text('{"step": 0}\n')
        os.utime(log, (time.time() - age,) * 2)
    return tmp_path / "runs"


def test_the_bundled_run_stands_before_those_beside_the_app_the_newest_first(beside) -> None:
    assert list(known_runs()) == [*BUNDLED_RUNS, "runs/new", "runs/old"]
    assert known_runs()["bundled"] == BUNDLED
    assert (known_runs()["runs/old"] / "run.jsonl").samefile(beside / "old" / "run.jsonl")


@pytest.mark.parametrize("place", ["checkpoints/step-00000008", "."])
def test_the_run_of_the_model_in_the_bar_stands_first(place, beside, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(beside / "old" / place))
    assert list(known_runs()) == ["runs/old", *BUNDLED_RUNS, "runs/new"]
    monkeypatch.setenv(RUNS_VARIABLE, str(tmp_path))
    assert list(known_runs()) == ["this model's", *BUNDLED_RUNS]
    assert known_runs()["this model's"].samefile(beside / "old")


def test_the_environment_names_another_folder_or_none(beside, monkeypatch) -> None:
    monkeypatch.setenv(RUNS_VARIABLE, str(beside.rename(beside.with_name("experiments"))))
    assert list(known_runs()) == [*BUNDLED_RUNS, "runs/new", "runs/old"]
    stated: list[str] = []
    monkeypatch.setattr("streamlit.text", stated.append)
    runs.report_missing("runs")
    assert not stated
    for folder in ("nowhere", "~nobody-of-this-name", "n" * 300):
        monkeypatch.setenv(RUNS_VARIABLE, folder)
        assert list(known_runs()) == [*BUNDLED_RUNS]
        runs.report_missing("runs")
        assert RUNS_VARIABLE in stated.pop()


def test_what_leads_out_of_the_folder_is_no_run(beside: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "run.jsonl").write_text('{"step": 0}\n')
    (beside / "linked").symlink_to(elsewhere)
    (beside / "log").mkdir()
    (beside / "log" / "run.jsonl").symlink_to(elsewhere / "run.jsonl")
    (beside / "broken").symlink_to(tmp_path / "gone")
    (beside / "pipe").mkdir()
    os.mkfifo(beside / "pipe" / "run.jsonl")  # whoever reads it waits for ever
    (beside / "again").symlink_to(beside / "old")  # stays inside
    assert set(known_runs()) == {*BUNDLED_RUNS, "runs/new", "runs/old", "runs/again"}


def test_a_run_goes_on_while_its_log_is_fresh_and_its_last_step_not_measured(beside) -> None:
    log = beside / "new" / "run.jsonl"
    assert is_live(log.parent)
    os.utime(log, (time.time() - LIVE_SECONDS - 1,) * 2)
    assert not is_live(log.parent)
    assert not is_live(beside / "none")
    log.write_text("")
    for line, goes_on in (
        ('{"step": 0, "steps": 20}', True),
        ('{"step": 10, "loss": 3}', True),
        ('{"step": 10, "validation_loss": 3}', True),
        ('{"step": 20, "loss": 2}', True),  # its last step is still being measured
        ('{"step": 20, "validation_loss": 2}', False),
        ('{"step": 20, "steps": 30}', True),  # made longer
        ('{"step": 30, "loss": 1}', True),
        ('{"step": 30, "validation_loss": 1}', False),
        ("nonsense", False),
    ):
        with log.open("a") as more:
            more.write(f"{line}\n")
        assert is_live(log.parent) == goes_on, line


def test_the_bundled_run_does_not_go_on_after_a_fresh_clone(monkeypatch) -> None:
    changed = (BUNDLED / "run.jsonl").stat().st_mtime
    monkeypatch.setattr(time, "time", lambda: changed + 1)
    assert not is_live(BUNDLED)
    changed = (FORMING / "run.jsonl").stat().st_mtime
    assert not is_live(FORMING)  # whose log ends before its planned steps


def _keep(run: Path, step: int, sentence: int) -> Path:
    path = run / "probes" / f"step-{step:08d}-sentence-{sentence}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    planted().save(path)
    return path


def test_each_sentence_has_its_files_in_the_order_of_the_steps(tmp_path: Path) -> None:
    second = [_keep(tmp_path, step, 2) for step in (100_000_000, 16)]
    first = _keep(tmp_path, 20, 1)  # comes after a file of the second
    (tmp_path / "probes" / "step-1-sentence-x.npz").write_bytes(b"")
    assert find(tmp_path) == [{20: first}, {16: second[1], 100_000_000: second[0]}]
    assert list(find(tmp_path)[1]) == [16, 100_000_000]
    assert find(tmp_path / "none") == []


def test_a_file_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    path = _keep(tmp_path, 1, 1)
    assert np.array_equal(load(path).cross, planted().cross)
    path.write_bytes(b"half")
    with pytest.raises(CheckpointError, match="is not a trace"):
        load(path)


def test_a_link_to_a_file_elsewhere_is_no_probe(tmp_path: Path) -> None:
    elsewhere, run = tmp_path / "elsewhere", tmp_path / "run"
    secret, own = _keep(elsewhere, 1, 1), _keep(run, 1, 1)
    (run / "probes" / "step-2-sentence-1.npz").symlink_to(secret)
    (run / "probes" / "step-3-sentence-1.npz").symlink_to(own)
    (run / "probes" / "step-4-sentence-1.npz").symlink_to(run / "gone")
    assert list(find(run)[0]) == [1, 3]
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "probes").symlink_to(elsewhere / "probes")
    assert find(linked) == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"cross": np.full_like(planted().cross, -0.5)}, "holds no attention of a model"),
        ({"cross": np.full_like(planted().cross, np.nan)}, "is not a trace that was saved here"),
        ({"cross": planted().cross[:0, :0]}, "is not a probe of a run"),
    ],
)
def test_what_no_head_can_have_looked_at_is_refused(tmp_path, changes, why) -> None:
    path = _keep(tmp_path, 1, 1)
    replace(planted(), **changes).save(path)
    with pytest.raises(CheckpointError, match=why):
        load(path)


def test_what_is_larger_than_a_picture_needs_is_not_unpacked(tmp_path: Path) -> None:
    path = _keep(tmp_path, 1, 1)
    long = planted().source_pieces * 100
    trace = replace(
        planted(),
        source_pieces=tuple(replace(piece, word=n) for n, piece in enumerate(long)),
        encoder_self=np.zeros((2, 3, len(long), len(long)), np.float32),
        cross=np.zeros((2, 3, len(planted().target_pieces), len(long)), np.float32),
    )
    trace.save(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(CheckpointError, match=r"unpacks to [\d,]+ bytes, and up to 4,194,304"):
        load(path)


def test_a_pipe_is_no_probe_and_more_files_than_are_read_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _keep(tmp_path, 1, 1)
    os.mkfifo(first.with_name("step-00000002-sentence-1.npz"))
    first.with_name("step-00000000-sentence-1.npz").write_bytes(b"")
    assert find(tmp_path) == [{1: first}]
    with pytest.raises(CheckpointError, match="not a regular file"):
        load(first.with_name("step-00000002-sentence-1.npz"))
    monkeypatch.setattr(runs, "MAX_FILES", 2)
    with pytest.raises(CheckpointError, match="holds 3 files, and up to 2 are read"):
        find(tmp_path)
