"""The run log can be read while it is written, and forgets what a resumed run does again."""

import os
from pathlib import Path

import pytest

from training.run.journal import (
    RunLog,
    RunLogError,
    parse,
    read,
    read_foreign,
)


def test_records_come_back_in_order_and_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert read(path) == []
    log = RunLog(path)
    log.write(step=1, loss=2.5)
    log.write(step=2, loss=2.0)
    with path.open("a") as file:
        file.write('{"ste')
    assert read(path) == [{"step": 1, "loss": 2.5}, {"step": 2, "loss": 2.0}]


def test_a_resumed_run_drops_what_came_after_its_step(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    log = RunLog(path)
    for step in (1, 2, 3):
        log.write(step=step)
    RunLog(path, after_step=2).write(step=3, loss=9.0)
    assert read(path) == [{"step": 1}, {"step": 2}, {"step": 3, "loss": 9.0}]


def test_a_run_that_is_killed_while_it_takes_up_its_log_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    log = RunLog(path)
    for step in (1, 2):
        log.write(step=step)

    def dies(_descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", dies)
    with pytest.raises(KeyboardInterrupt):
        RunLog(path, after_step=2)
    assert read(path) == [{"step": 1}, {"step": 2}]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ('{"step": 2, "loss": null}', "loss = None"),
        ('{"step": 2, "loss": NaN}', "loss = nan"),
        ('{"step": 2, "loss": 1' + "0" * 5000 + "}", "is not JSON"),
        ('{"step": 2, "x": {"a": []}}', "x = {'a': []}"),
        ('{"loss": 1.0}', "does not say the step"),
        ('{"step": -5}', "step = -5, which must be from 0 to 1,000,000,000,000"),
        ('{"step": 0, "steps": 9, "warmup": 0}', "warmup = 0, which must be from 1"),
        ('{"step": 2, "validation_perplexity": -1}', "validation_perplexity = -1"),
        ("[" * 200_000, "with 200,000 characters"),
    ],
)
def test_a_line_that_cannot_be_meant_is_told_from_the_others(
    damage: str, why: str, tmp_path: Path
) -> None:
    log = parse(f'{{"step": 1}}\n{damage}\n\n{{"step": 3, "loss": 1.5}}\n'.encode())
    assert list(log.records) == [{"step": 1}, {"step": 3, "loss": 1.5}]
    assert [*log.wrong] == [2]
    assert why in log.wrong[2]
    (tmp_path / "run.jsonl").write_text(f'{{"step": 1}}\n{damage}\n', "utf-8")
    with pytest.raises(RunLogError, match=r"Line 2 of .*run\.jsonl is not a record of a run"):
        read(tmp_path / "run.jsonl")


def test_a_log_of_anybody_is_read_up_to_a_size(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"step": 1}\n' * 20)
    assert len(read_foreign(path, max_bytes=240, max_lines=20).records) == 20
    with pytest.raises(RunLogError, match=r"run\.jsonl has 20 lines, and up to 19 are read"):
        read_foreign(path, max_bytes=240, max_lines=19)
    with pytest.raises(RunLogError, match=r"run\.jsonl cannot be read: it has 240 bytes"):
        read_foreign(path, max_bytes=239, max_lines=20)
    with path.open("r+b") as file:
        file.truncate(2**31)  # sparse: nothing of it is on the disk
    with pytest.raises(RunLogError, match="it has 2,147,483,648 bytes"):
        read_foreign(path, max_bytes=2**24, max_lines=20)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(RunLogError, match="it is not a regular file"):
        read_foreign(path, max_bytes=2**24, max_lines=20)
