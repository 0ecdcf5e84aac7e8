"""Readers see the names of folders, the log has their paths."""

import re
from pathlib import Path

import pytest

from transformer import CheckpointError, Translator
from transformer.files.installed import ASSETS
from viz.app.chrome import problems
from viz.app.chrome.problems import without_paths
from viz.app.models.menu import CHECKPOINT_VARIABLE, MODELS_VARIABLE

VIZ = Path(__file__).parents[4] / "viz"


def test_a_reader_sees_names_and_the_log_has_paths(tmp_path, monkeypatch) -> None:
    models, own = tmp_path / "all my models", tmp_path / "own"
    monkeypatch.setenv(MODELS_VARIABLE, str(models))
    monkeypatch.setenv(CHECKPOINT_VARIABLE, f"{own}:{ASSETS / 'model'}")
    (models / "copied").mkdir(parents=True)
    (models / "copied" / "MANIFEST.json").write_text("none")
    with pytest.raises(CheckpointError) as raised:
        Translator.load(models / "copied")
    assert str(tmp_path) in str(raised.value)
    logged: list[str] = []
    monkeypatch.setattr(problems._LOG, "warning", lambda _, text: logged.append(text))
    sentence = without_paths(raised.value)
    assert "all my models/copied/MANIFEST.json" in sentence
    assert str(tmp_path) not in sentence
    assert logged == [str(raised.value)]
    assert without_paths(f"{own} is none, {ASSETS}/x is one.") == "own is none, assets/x is one."


def test_every_page_shows_errors_through_it() -> None:
    shown = re.compile(r"str\((error|refused)\)|(?<!\w)[{ ]error}")
    names = [
        path.name
        for folder in (VIZ / "app", VIZ / "pages")
        for path in folder.rglob("*.py")
        if shown.search(path.read_text("utf-8"))
    ]
    # files that a teacher drops, a lesson that is refused, a sentence of the system; the one place
    assert sorted(names) == ["class_answers.py", "library.py", "menu.py", "problems.py"]
