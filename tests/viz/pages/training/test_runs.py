"""The runs that the Training page offers, and the messages on others."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from training.run import journal
from transformer.files.installed import BUNDLED
from viz.pages.training.runs import (
    LIVE_SECONDS,
    RUNS_VARIABLE,
    find,
    is_live,
    known_runs,
    missing_folder,
    run_at,
)


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


def test_the_bundled_run_stands_before_those_beside_the_app_the_newest_first(
    beside: Path,
) -> None:
    assert list(known_runs()) == ["bundled", "runs/new", "runs/old"]
    assert known_runs()["bundled"] == BUNDLED
    assert (known_runs()["runs/old"] / "run.jsonl").samefile(beside / "old" / "run.jsonl")


def test_the_environment_names_another_folder(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUNS_VARIABLE, str(beside.rename(beside.with_name("experiments"))))
    assert list(known_runs()) == ["bundled", "runs/new", "runs/old"]
    assert missing_folder() is None


@pytest.mark.parametrize("folder", ["nowhere", "~nobody-of-this-name", "n" * 300])
def test_a_folder_that_is_not_there_is_one_sentence(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUNS_VARIABLE, folder)
    assert list(known_runs()) == ["bundled"]
    text = "HEADLIGHT_RUNS names no folder on this server: the bundled run alone is here."
    assert missing_folder() == text


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
    assert set(known_runs()) == {"bundled", "runs/new", "runs/old", "runs/again"}


def test_an_old_link_names_a_run_by_its_path(
    beside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = known_runs()
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (beside / "old", "./runs/old/", "runs/../runs/old", "~/runs/old"):
        assert run_at(str(path), runs) == runs["runs/old"]
    assert run_at(str(BUNDLED), runs) == BUNDLED


@pytest.mark.parametrize(
    "path", ["/etc", "/", "", "..", "runs", "runs/../..", "~nobody", "~", "n" * 300, "\0", "*"]
)
def test_any_other_path_is_no_run_and_no_file_is_touched_for_it(
    beside: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = known_runs()

    def touched(*_: object, **__: object) -> None:
        pytest.fail("a file was touched")

    with monkeypatch.context() as patch:
        for name in ("stat", "lstat", "open", "listdir", "scandir", "readlink"):
            patch.setattr(os, name, touched)
        result = run_at(path, runs)
    assert result is None


def test_what_is_bundled_is_a_run_from_its_first_step_and_small() -> None:
    last = journal.read(BUNDLED / "run.jsonl")[-1]["step"]
    for probes in find(BUNDLED):
        assert min(probes) == 1
        assert max(probes) == last
    assert sum(path.stat().st_size for path in BUNDLED.rglob("*.npz")) < 2_000_000


def test_a_run_goes_on_while_its_log_is_fresh(beside: Path) -> None:
    log = beside / "new" / "run.jsonl"
    assert is_live(log.parent)
    os.utime(log, (time.time() - LIVE_SECONDS - 1,) * 2)
    assert not is_live(log.parent)
    assert not is_live(beside / "none")


def test_a_run_that_measured_its_last_step_does_not_go_on_however_fresh_its_log(
    beside: Path,
) -> None:
    log = beside / "new" / "run.jsonl"
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


def test_the_bundled_run_does_not_go_on_after_a_fresh_clone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed = (BUNDLED / "run.jsonl").stat().st_mtime
    monkeypatch.setattr(time, "time", lambda: changed + 1)
    assert not is_live(BUNDLED)


def page() -> None:
    import streamlit as st

    from viz.pages.training.runs import known_runs, offered_runs, report_missing

    st.session_state["offered"] = offered_runs("runs", known_runs())
    report_missing("runs")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "run.jsonl").write_text('{"step": 0}\n')
    monkeypatch.setenv(RUNS_VARIABLE, str(tmp_path))
    return tmp_path


def opened(*runs: str) -> AppTest:
    app = AppTest.from_function(page)
    app.query_params["runs"] = list(runs)
    return app.run()


def test_a_run_of_the_folder_is_offered_by_name_and_by_the_path_of_a_link(folder: Path) -> None:
    app = opened("runs/mine", str(folder / "mine"))
    assert texts(app) == []
    offered = app.session_state["offered"]
    assert list(offered) == ["bundled", "runs/mine", str(folder / "mine")]
    assert offered["runs/mine"] == offered[str(folder / "mine")] == folder / "mine"


@pytest.mark.parametrize("name", ["no/such/folder", "~nobody", "n" * 300, "/etc", "..", "a\0b"])
def test_what_is_no_run_is_named_and_not_offered(folder: Path, name: str) -> None:
    app = opened(name, "runs/gone")
    assert texts(app) == [
        f"“\u2068{name}\u2069” is no run of this server: choose one from the menu.",
        "“\u2068runs/gone\u2069” is no run of this server: choose one from the menu.",
    ]
    assert list(app.session_state["offered"]) == ["bundled", "runs/mine"]


def test_a_folder_that_is_not_there_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUNS_VARIABLE, str(folder / "gone"))
    (text,) = texts(opened())
    assert text.startswith("HEADLIGHT_RUNS names no folder on this server")
