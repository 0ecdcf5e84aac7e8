"""A file beside the weights is in the manifest, and a write that fails changes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from training.checkpoint_files import add_to_checkpoint
from transformer import CheckpointError, checkpoint


@pytest.fixture
def folder(checkpoint_folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(checkpoint_folder, tmp_path / "model")


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_added_is_verified_at_loading(folder: Path, times: int) -> None:
    before = _content(folder)
    for time in range(times):
        add_to_checkpoint(folder, "heads.json", f"{time}\n")
    after = _content(folder)
    assert after.pop("heads.json") == b"%d\n" % (times - 1)
    assert before.pop("MANIFEST.json") != after.pop("MANIFEST.json")
    assert before == after
    checkpoint.load(folder)
    (folder / "heads.json").write_text("other")
    with pytest.raises(CheckpointError, match=r"heads\.json is damaged"):
        checkpoint.load(folder)


def test_what_a_link_leads_to_is_written(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    add_to_checkpoint(link, "heads.json", "{}")
    assert link.is_symlink()
    assert (folder / "heads.json").read_text() == "{}"


def test_a_write_that_fails_changes_nothing(folder: Path, tmp_path: Path) -> None:
    before = _content(folder)
    with pytest.raises(OSError, match=r"no/such"):
        add_to_checkpoint(folder, "no/such.json", "{}")
    assert _content(folder) == before
    assert [*tmp_path.iterdir()] == [folder]
