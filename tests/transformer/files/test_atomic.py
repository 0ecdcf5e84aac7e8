import os
from pathlib import Path

import pytest

from tests.fingerprint import fingerprint
from transformer.errors import CheckpointError
from transformer.files import atomic


def one_file(folder):
    """Refuse a folder that holds more than `file`."""
    others = [path.name for path in folder.glob("*") if path.name != "file"]
    return f"{others[0]} would be lost" if others else ""


def fill(folder, text):
    with atomic.replace_folder(folder, one_file) as new:
        (new / "file").write_text(text)


def everything(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_a_folder_appears_when_its_block_ends(tmp_path):
    folder = tmp_path / "deep" / "model"
    with atomic.replace_folder(folder, one_file) as new:
        (new / "file").write_text("first")
        assert not folder.exists()
    with atomic.replace_folder(folder, one_file) as new:
        (new / "file").write_text("second")
        assert (folder / "file").read_text() == "first"
    assert (folder / "file").read_text() == "second"
    assert everything(tmp_path) == {"deep/model/file"}


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
        with atomic.replace_folder(tmp_path / "model", one_file) as new:
            (new / "file").write_text("half")
            raise error

    fill(tmp_path / "model", "first")
    with pytest.raises(error):
        fail()
    assert (tmp_path / "model" / "file").read_text() == "first"
    assert everything(tmp_path) == {"model/file"}


def test_only_an_empty_folder_is_replaced_unless_another_rule_is_given(tmp_path):
    def make():
        with atomic.replace_folder(tmp_path / "model") as new:
            (new / "file").write_text("mine")

    (tmp_path / "model").mkdir()
    make()
    with pytest.raises(CheckpointError, match="model is there and is not an empty folder"):
        make()
    assert everything(tmp_path) == {"model/file"}


LEFT = ("model", "abcd_123"), ("mine", "folder")  # by a writer that was killed, and by nobody


def test_a_file_that_comes_at_the_last_moment_is_not_removed(tmp_path, monkeypatch):
    fill(tmp_path / "model", "first")
    rename = Path.rename

    def late(path, target):
        if path.name == "model":
            (path / "thesis.txt").write_text("mine")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", late)
    fill(tmp_path / "model", "second")
    assert (tmp_path / "model" / "file").read_text() == "second"
    (left,) = [path for path in tmp_path.iterdir() if path.name != "model"]
    assert everything(left) == {"old/file", "old/thesis.txt"}
    killed, foreign = (tmp_path / f"{name}{atomic.MARK}{end}" / "new" for name, end in LEFT)
    for folder in (killed, foreign):
        folder.mkdir(parents=True)
    atomic.sweep(tmp_path)
    assert (left / "old" / "thesis.txt").read_text() == "mine"
    assert [killed.parent.exists(), foreign.parent.exists()] == [False, True]


def test_a_file_that_comes_while_the_folder_is_written_keeps_it(tmp_path):
    fill(tmp_path / "model", "first")

    def meanwhile():
        with atomic.replace_folder(tmp_path / "model", one_file) as new:
            (new / "file").write_text("second")
            (tmp_path / "model" / "thesis.txt").write_text("mine")

    with pytest.raises(CheckpointError, match="would be lost"):
        meanwhile()
    assert everything(tmp_path) == {"model/file", "model/thesis.txt"}
    assert (tmp_path / "model" / "file").read_text() == "first"


def test_a_rename_that_fails_is_taken_back(tmp_path, monkeypatch):
    fill(tmp_path / "model", "first")
    rename = Path.rename

    def failing(path, target):
        if path.name == "new":
            raise OSError(5, "Input/output error")
        return rename(path, target)

    before = fingerprint(tmp_path)
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output error"):
        fill(tmp_path / "model", "second")
    assert fingerprint(tmp_path) == before


def test_a_folder_that_cannot_take_its_place_leaves_nothing(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with (
        pytest.raises(CheckpointError, match="loop is there and is not an empty folder"),
        atomic.replace_folder(tmp_path / "loop"),
    ):
        pass
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


def test_a_descriptor_is_written_to_and_not_replaced(capfd, tmp_path):
    print("before", flush=True)
    atomic.write_file(Path("/dev/stdout"), b"the file\n")
    print("after", flush=True)
    assert capfd.readouterr().out == "before\nthe file\nafter\n"
    reader, writer = os.pipe()
    atomic.write_file(Path(f"/dev/fd/{writer}"), b"the file")  # as >(…) of a shell
    assert os.read(reader, 20) == b"the file"
    atomic.write_file(Path(f"/proc/self/fd/{writer}"), b"again")  # a link that leads nowhere
    assert os.read(reader, 20) == b"again"
    log = tmp_path / "log"
    log.write_bytes(b"before ")
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
    atomic.write_file(Path(f"/dev/fd/{descriptor}"), b"the file")
    assert log.read_bytes() == b"before the file"
    for opened in (reader, writer, descriptor):
        os.close(opened)
