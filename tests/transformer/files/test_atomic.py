import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.fingerprint import fingerprint
from transformer.errors import CheckpointError
from transformer.files import atomic


def checksums(folder):
    """Return those of a folder that holds no other files than `file` and what it lists."""
    return {"file": None, **json.loads((folder / "list").read_bytes())}


ONE_FILE = atomic.FolderKind("a test", lambda _: {"file": None})
LISTED = atomic.FolderKind("a test", checksums)


def fill(folder, text, kind=ONE_FILE, **options):
    with atomic.replace_folder(folder, kind, **options) as new:
        (new / "file").write_text(text)
        return new


def everything(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_a_folder_appears_when_its_block_ends(tmp_path):
    folder = tmp_path / "deep" / "model"
    with atomic.replace_folder(folder, ONE_FILE) as new:
        (new / "file").write_text("first")
        assert not folder.exists()
    with atomic.replace_folder(folder, ONE_FILE) as new:
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
        with atomic.replace_folder(tmp_path / "model", ONE_FILE) as new:
            (new / "file").write_text("half")
            raise error

    fill(tmp_path / "model", "first")
    with pytest.raises(error):
        fail()
    assert (tmp_path / "model" / "file").read_text() == "first"
    assert everything(tmp_path) == {"model/file"}


@pytest.mark.parametrize("place", ["model", "model.before"])
def test_a_file_that_was_not_written_here_keeps_the_folder(tmp_path, place):
    for text in ("first", "second"):
        fill(tmp_path / "model", text, keep_backup=True)
    (tmp_path / place / "thesis.txt").write_text("mine")
    before = fingerprint(tmp_path)
    with pytest.raises(CheckpointError, match=rf"{place} is there, and 'thesis\.txt' in it would"):
        fill(tmp_path / "model", "third", keep_backup=True)
    assert not atomic.remove_folder(tmp_path / place, ONE_FILE)
    assert fingerprint(tmp_path) == before


def test_a_file_that_comes_while_the_folder_is_written_keeps_it(tmp_path):
    fill(tmp_path / "model", "first")

    def meanwhile():
        with atomic.replace_folder(tmp_path / "model", ONE_FILE) as new:
            (new / "file").write_text("second")
            (tmp_path / "model" / "thesis.txt").write_text("mine")

    with pytest.raises(CheckpointError, match="would be lost"):
        meanwhile()
    assert everything(tmp_path) == {"model/file", "model/thesis.txt"}
    assert (tmp_path / "model" / "file").read_text() == "first"


def test_a_list_removes_no_file_outside_its_folder(tmp_path):
    fill(tmp_path / "model", "first")
    (tmp_path / "thesis.txt").write_text("mine")
    digest = hashlib.sha256(b"mine").hexdigest()
    paths = ["../thesis.txt", "../../thesis.txt", str(tmp_path / "thesis.txt")]
    (tmp_path / "model" / "list").write_text(json.dumps(dict.fromkeys(["list", *paths], digest)))
    with pytest.raises(CheckpointError, match="'list' in it would be lost"):
        fill(tmp_path / "model", "second", LISTED)
    listed = json.dumps({"list": None, **dict.fromkeys(paths, digest)})
    (tmp_path / "model" / "list").write_text(listed)
    fill(tmp_path / "model", "second", LISTED)
    assert everything(tmp_path) == {"model/file", "thesis.txt"}


def test_what_kills_left_behind_is_removed_and_nothing_else(tmp_path):
    work = tmp_path / "model.headlight-0123abc_"
    for path in ("new/file", "new/thesis.txt", "old/file", "0", "1"):
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text("half")
    atomic.remove_leftovers(tmp_path, ["file"])
    assert everything(tmp_path) == {f"{work.name}/new/thesis.txt"}
    (work / "new" / "thesis.txt").unlink()
    atomic.remove_leftovers(tmp_path, ["file"])
    assert not work.exists()


def test_a_rename_that_fails_is_taken_back(tmp_path, monkeypatch):
    for text in ("first", "second"):
        fill(tmp_path / "model", text, keep_backup=True)
    rename = Path.rename

    def failing(path, target):
        if path.name == "new":
            raise OSError(5, "Input/output error")
        return rename(path, target)

    before = fingerprint(tmp_path)
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output error"):
        fill(tmp_path / "model", "third", keep_backup=True)
    assert fingerprint(tmp_path) == before


def test_a_folder_that_cannot_take_its_place_leaves_nothing(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(CheckpointError, match="loop is there and is not a test"):
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
