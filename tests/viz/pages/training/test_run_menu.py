"""A menu of runs offers what the server has, and what an old link names by its path."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from viz.pages.training.runs import RUNS_VARIABLE


def page() -> None:
    import streamlit as st

    from viz.pages.training import run_menu
    from viz.pages.training.runs import known_runs

    st.session_state["offered"] = run_menu.offered("runs", known_runs())
    run_menu.say_what_is_missing("runs")


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
    (said,) = texts(opened())
    assert said.startswith("HEADLIGHT_RUNS names no folder on this server")
