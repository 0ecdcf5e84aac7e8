import pytest

from transformer import atomic


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
