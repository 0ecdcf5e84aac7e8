"""The Training page opens with the heads that form, and leads to the curves of its runs."""

import json
import os
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import streamlit as st
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import open_alone, texts
from training.config import CONFIGS, RunConfig
from training.run import journal
from viz.pages import training
from viz.pages.training.runs import RUNS_VARIABLE

opened = partial(open_alone, "training")


def test_the_page_opens_with_the_heads_that_form_and_a_link_with_the_curves() -> None:
    app = opened()
    assert training.PAGE.views[0].question in app.markdown[0].value
    assert [box.key for box in app.selectbox][:2] == ["forming_run", "sentence"]
    app = opened(training_view="Curves")
    assert training.PAGE.views[1].question in app.markdown[0].value
    assert [(box.key, box.value) for box in app.multiselect] == [("runs", ["bundled"])]
    assert not app.multiselect(key="runs").proto.accept_new_options
    assert app.subheader[0].value == "Loss"


def opened_curves(*runs: str) -> AppTest:
    return opened(training_view="Curves", **{"runs": list(runs)} if runs else {})


def losses(app: AppTest) -> dict[str, list[float]]:
    """The first picture: loss by the name of the run, the log's own and the validation's."""
    result: dict[str, list[float]] = {}
    for dataset in app.get("vega_lite_chart")[0].proto.datasets:
        frame = convert_arrow_bytes_to_pandas_df(dataset.data.data)
        (column,) = [name for name in frame if name not in ("run", "step", "what")]
        for name, rows in frame.groupby("run"):
            result.setdefault(str(name), []).extend(rows[column].tolist())
    return result


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run in the folder of this server."""
    monkeypatch.setenv(RUNS_VARIABLE, str(tmp_path / "experiments"))
    folder = tmp_path / "experiments" / "mine"
    folder.mkdir(parents=True)
    log = journal.RunLog(folder / "run.jsonl")
    log.write(step=0, parameters=10, d_model=8, warmup=4, lr_factor=1.0, steps=9, cooldown=0)
    for step in (1, 2, 3):
        log.write(step=step, epoch=0, loss=4.0 - step, lr=0.1, tokens_per_second=9.0, seconds=5400)
    log.write(step=3, validation_loss=0.5, validation_perplexity=1.6, validation_bleu=3.0)
    return folder


def test_a_run_is_followed_until_its_end(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Again(Exception):
        pass

    followed: list[tuple[Callable[[], None], str | None]] = []

    def fragment(values: Callable[..., None], *, run_every: str | None) -> Callable[..., None]:
        return lambda *given: followed.append((lambda: values(*given), run_every))

    monkeypatch.setattr(st, "fragment", fragment)
    monkeypatch.setattr(st, "rerun", MagicMock(side_effect=Again))
    monkeypatch.setattr("viz.pages.training.runs.is_live", lambda folder: folder == run)
    opened_curves("runs/mine")
    pictures, every = followed[-1]
    assert every == "3s"
    pictures()
    monkeypatch.setattr("viz.pages.training.runs.is_live", lambda _: False)
    with pytest.raises(Again):
        pictures()
    opened_curves("runs/mine")
    pictures, every = followed[-1]
    assert every is None
    pictures()


def test_what_cannot_be_drawn_is_named_and_the_others_are_drawn(run: Path) -> None:
    new, other = run.with_name("new"), run.with_name("other")
    for folder in (new, other):
        folder.mkdir()
    (new / "run.jsonl").touch()
    (other / "run.jsonl").write_text(json.dumps({"step": 1, "loss": 2.5}) + "\nnonsense\n[\n")
    app = opened_curves("runs/mine", "/etc", "runs/new", "runs/other")
    assert any("3 steps in 1.5 h" in caption.value for caption in app.caption)
    for text in (
        "This server has no run “\u2068/etc\u2069”: choose one from the menu.",
        "runs/new has logged nothing yet.",  # it is read again while it goes on
        "runs/other: line 2 of run.jsonl is not a run record (it is not JSON), and neither is 1 "
        "more; you see the other lines.",
    ):
        assert text in texts(app)
    assert app.multiselect(key="runs").value == ["runs/mine", "runs/new", "runs/other"]
    assert losses(app)["runs/other"] == [2.5]
    assert {3.0, 2.0, 1.0, 0.5} == set(losses(app)["runs/mine"])
    os.utime(new / "run.jsonl", (0, 0))
    assert "runs/new has logged nothing yet: reload when it has." in texts(app.run())


def test_the_page_has_the_commands_that_train_on_each_machine() -> None:
    (code,) = (block.value for block in opened().code if "headlight download" in block.value)
    commands = [shlex.split(line, comments=True) for line in code.splitlines()]
    download, *trained = commands
    assert download[:3] == ["headlight", "download", "multi30k"]
    gpus = {}
    for command in trained:
        name = command[command.index("--config") + 1]
        gpus[name] = RunConfig.load(CONFIGS / name).recipe.gpus
    assert gpus == {"demo.toml": 1, "demo-cpu.toml": 0, "base.toml": 8}
    assert "--nproc-per-node=8" in trained[-1]
    assert "12 hours on 8 P100" in code.splitlines()[-1]
