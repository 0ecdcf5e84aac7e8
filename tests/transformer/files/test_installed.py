"""The folder that a name or a path of a checkpoint stands for."""

from pathlib import Path

from transformer.files.installed import BUNDLED, REVERSE, checkpoint_folder


def test_a_bundled_name_stands_for_its_folder_unless_a_folder_here_has_the_name(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert checkpoint_folder(None) == checkpoint_folder("bundled") == BUNDLED
    assert checkpoint_folder("bundled-de-en") == checkpoint_folder(Path("bundled-de-en")) == REVERSE
    assert checkpoint_folder("models/bundled") == Path("models/bundled")
    (tmp_path / "bundled").mkdir()
    assert checkpoint_folder("bundled") == Path("bundled")
    assert checkpoint_folder(None) == BUNDLED
