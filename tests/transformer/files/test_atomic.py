import os
from pathlib import Path

import pytest

from transformer.files import atomic


def fill(folder, text, **options):
    with atomic.replace_folder(folder, **options) as new:
        (new / "file").write_text(text)
        return new


def everything(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_a_folder_appears_when_its_block_ends(tmp_path):
    with atomic.replace_folder(tmp_path / "deep" / "model") as new:
        (new / "file").write_text("first")
        assert not (tmp_path / "deep" / "model").exists()
    assert (tmp_path / "deep" / "model" / "file").read_text() == "first"
    assert everything(tmp_path) == {"deep/model/file"}


def test_what_stood_there_is_whole_until_then_and_gone_after(tmp_path):
    fill(tmp_path / "model", "first")
    (tmp_path / "model" / "another").touch()
    with atomic.replace_folder(tmp_path / "model") as new:
        (new / "file").write_text("second")
        assert (tmp_path / "model" / "file").read_text() == "first"
    assert (tmp_path / "model" / "file").read_text() == "second"
    assert everything(tmp_path) == {"model/file"}


def test_what_stood_there_can_be_kept(tmp_path):
    for text in ("first", "second", "third"):
        fill(tmp_path / "model", text, keep_backup=True)
    assert (tmp_path / "model" / "file").read_text() == "third"
    assert (atomic.backup_path(tmp_path / "model") / "file").read_text() == "second"
    assert everything(tmp_path) == {"model/file", "model.before/file"}


def test_what_a_link_leads_to_is_replaced(tmp_path):
    fill(tmp_path / "third", "first")
    (tmp_path / "current").symlink_to("third")
    for text in ("second", "third"):
        fill(tmp_path / "current", text)
        assert (tmp_path / "third" / "file").read_text() == text
    assert (tmp_path / "current").is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"current", "third"}


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_block_that_fails_leaves_everything_as_it_was(tmp_path, error):
    def fail():
        with atomic.replace_folder(tmp_path / "model") as new:
            (new / "file").write_text("half")
            raise error

    fill(tmp_path / "model", "first")
    with pytest.raises(error):
        fail()
    assert (tmp_path / "model" / "file").read_text() == "first"
    assert everything(tmp_path) == {"model/file"}


def test_what_a_stopped_machine_left_behind_is_swept_away(tmp_path):
    (tmp_path / "model.new").mkdir()
    (tmp_path / "model.new" / "half").touch()
    fill(tmp_path / "model", "whole")
    assert everything(tmp_path) == {"model/file"}


def test_folders_that_were_made_for_nothing_are_removed(tmp_path):
    (tmp_path / "mine").mkdir()
    for folder in (tmp_path / "deep" / "down", tmp_path / "mine" / "new", tmp_path / "mine"):
        with pytest.raises(ValueError, match="refused"), atomic.new_folder(folder):
            raise ValueError("refused")
    assert [path.name for path in tmp_path.rglob("*")] == ["mine"]

    def fail_late():
        with atomic.new_folder(tmp_path / "deep") as folder:
            (folder / "kept").touch()
            raise ValueError("late")

    with pytest.raises(ValueError, match="late"):
        fail_late()
    assert everything(tmp_path) == {"deep/kept"}


def test_a_folder_that_cannot_take_its_place_leaves_nothing(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        fill(tmp_path / "loop", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]
    for nameless in (Path(), Path("/")):
        with pytest.raises(OSError, match="name a folder to be made"):
            fill(nameless, "new")


def test_a_file_is_there_whole_or_not_at_all(tmp_path, monkeypatch):
    path, link = tmp_path / "page.html", tmp_path / "link"
    link.symlink_to(path)
    atomic.write_file(link, b"first")
    assert (path.read_bytes(), link.is_symlink()) == (b"first", True)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space") as caught:
        atomic.write_file(link, b"second")
    assert caught.value.filename == str(link)  # and no name that nobody asked for
    assert path.read_bytes() == b"first"
    assert {p.name for p in tmp_path.iterdir()} == {"page.html", "link"}


@pytest.mark.timeout(20)
def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        atomic.write_file(tmp_path / "pipe", b"x")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    atomic.write_file(tmp_path / "pipe", b"x")
    assert os.read(reader, 9) == b"x"
    os.close(reader)
    (tmp_path / "loop").symlink_to("loop")
    for odd in ("loop", "."):
        with pytest.raises(OSError, match=r"symbolic|directory"):
            atomic.write_file(tmp_path / odd, b"x")
