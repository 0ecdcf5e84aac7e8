"""The run log can be read while it is written, and forgets what a resumed run does again."""

import subprocess
import sys
from pathlib import Path

import pytest

from training.runlog import RunLog, plan, read


def test_records_come_back_in_order(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "run.jsonl")
    log.write(step=1, loss=2.5)
    log.write(step=2, loss=2.0)
    assert read(tmp_path / "run.jsonl") == [{"step": 1, "loss": 2.5}, {"step": 2, "loss": 2.0}]


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"step": 1}\n{"ste')
    assert read(path) == [{"step": 1}]


def test_a_resumed_run_drops_what_came_after_its_step(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    log = RunLog(path)
    for step in (1, 2, 3):
        log.write(step=step)
    RunLog(path, after_step=2).write(step=3, loss=9.0)
    assert read(path) == [{"step": 1}, {"step": 2}, {"step": 3, "loss": 9.0}]


def test_the_plan_is_the_last_one_that_was_written(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "run.jsonl")
    assert plan(read(log.path)) == {}
    log.write(step=0, steps=20)
    log.write(step=10, loss=2.0)
    assert plan(read(log.path)) == {"step": 0, "steps": 20}
    log.write(step=10, steps=30)
    log.write(step=20, loss=1.0)
    assert plan(read(log.path)) == {"step": 10, "steps": 30}


def test_a_run_that_is_killed_while_it_takes_up_its_log_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl"
    log = RunLog(path)
    for step in (1, 2):
        log.write(step=step)

    def dies(file: Path, text: str, _encoding: str) -> None:
        file.write_bytes(text.encode()[:5])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", dies)
    with pytest.raises(KeyboardInterrupt):
        RunLog(path, after_step=2)
    assert read(path) == [{"step": 1}, {"step": 2}]


@pytest.mark.parametrize(
    "damage", ['{"step": 1', "[1]", "7", '{"loss": 1}', '{"step": "x"}', "\ufffd"]
)
def test_a_damaged_line_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"step": 1}\n' + damage + '\n{"step": 2}\n', "utf-8")
    with pytest.raises(ValueError, match=r"Line 2 of .*run\.jsonl is no record of a run"):
        read(path)


def test_no_file_means_no_records(tmp_path: Path) -> None:
    assert read(tmp_path / "none.jsonl") == []


def test_it_and_the_schedule_load_without_torch() -> None:
    code = "import sys, training.runlog, training.schedule; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
