"""Folders that are offered as models, and their names."""

import shutil
from pathlib import Path

import pytest

from tests.transformer.checkpoints.marian import marian_folder
from transformer.files.installed import BUNDLED, BUNDLED_BY_NAME
from viz.app.models.menu import CHECKPOINT_VARIABLE, MODELS_VARIABLE, SEPARATOR, offered_models


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of models, empty."""
    monkeypatch.delenv(CHECKPOINT_VARIABLE, raising=False)
    monkeypatch.setenv(MODELS_VARIABLE, str(tmp_path))
    return tmp_path


def names() -> list[str]:
    return list(offered_models().folders)


def test_models_of_both_layouts_are_offered_and_what_is_none_is_not(
    folder: Path, checkpoint_folder: Path
) -> None:
    shutil.copytree(checkpoint_folder, folder / "Ours")
    marian_folder.write(folder / "opus-mt-en-fr")
    for name, content in {
        **dict.fromkeys(("damaged-ours/MANIFEST.json", "damaged-marian/vocab.json"), "none"),
        "bert/config.json": '{"model_type": "bert"}',
        "settings/config.json": '{"port": 1}',  # which is none
    }.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text(content)
    (folder / "empty").mkdir()
    (folder / "notes.txt").write_text("a file")
    marian_folder.write(folder / ".hidden")
    # names of all kinds
    (folder / "circle").symlink_to("circle")
    (folder / "nowhere").symlink_to(folder / "that is not there")
    (folder / "link").symlink_to(folder / "Ours")
    assert names() == [
        *BUNDLED_BY_NAME,
        *("bert", "damaged-marian", "damaged-ours", "link", "opus-mt-en-fr", "Ours"),
    ]
    assert offered_models().default == "bundled"
    assert offered_models().problem == ""


def test_a_name_that_cannot_be_shown_is_written_so_that_it_can(folder: Path) -> None:
    strange = [folder / "a\nb", Path(f"{folder}/caf\udce9")]
    for path in strange:
        try:
            path.mkdir()
        except OSError:
            pytest.skip("this file system has no such names")
        (path / "MANIFEST.json").touch()
    assert names()[2:] == ["a\\nb", "caf\\udce9"]
    assert list(offered_models().folders.values())[2:] == strange
    assert all(name.encode() for name in names())


def test_the_first_one_named_translates_and_the_bundled_one_is_always_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marian_folder.write(folder / "mine")
    monkeypatch.setenv(CHECKPOINT_VARIABLE, f"{folder / 'gone'}{SEPARATOR} {folder / 'mine'} ")
    assert names() == ["gone", "mine", *BUNDLED_BY_NAME]  # each of them once
    assert offered_models().default == "gone"
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(BUNDLED))
    assert names() == [*BUNDLED_BY_NAME, "mine"]


def test_two_of_one_name_are_told_apart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("model", "bundled"):
        marian_folder.write(folder / name)
    first, second = Path("/a/model"), Path("/b/model")
    monkeypatch.setenv(CHECKPOINT_VARIABLE, f"{first}{SEPARATOR}{second}")
    assert offered_models().folders == {
        "a/model": first,
        "b/model": second,
        **BUNDLED_BY_NAME,
        f"{folder.name}/bundled": folder / "bundled",
        f"{folder.name}/model": folder / "model",
    }


def test_a_folder_of_models_that_cannot_be_read_is_one_sentence(folder, monkeypatch) -> None:
    for path, why in (
        (folder / "none", "No such file or directory"),
        (__file__, "Not a directory"),
        ("a" * 5_000, "File name too long"),
    ):
        monkeypatch.setenv(MODELS_VARIABLE, str(path))
        assert names() == [*BUNDLED_BY_NAME]
        problem = offered_models().problem
        assert problem.startswith(f"{MODELS_VARIABLE}: ")
        assert problem.endswith(f" cannot be read: {why}.")
