"""Measurements of a checkpoint lie beside it, whole or not at all."""

import os
import shutil
from pathlib import Path

import pytest

from tests.fingerprint import fingerprint
from tests.transformer.checkpoints.marian import marian_folder
from training.evaluation import measurement
from transformer import CheckpointError
from transformer.checkpoints import checkpoint


@pytest.fixture
def folder(checkpoint_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(checkpoint_folder, tmp_path / "model"))


def test_a_stored_file_is_verified_with_the_others(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    measurement.store(folder, {"heads.json": b"{}"})
    measurement.store(folder, {"heads.json": b"[]", "means": b"\0"})
    assert checkpoint.load(folder).tokenizer.vocab_size == 160
    for name in before.keys() - {"MANIFEST.json"}:
        assert (folder / name).read_bytes() == before[name]
    assert list(folder.parent.iterdir()) == [folder]
    (folder / "heads.json").write_bytes(b"{]")
    with pytest.raises(CheckpointError, match=r"heads\.json is damaged"):
        checkpoint.load(folder)


def test_nothing_is_half_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    def full(descriptor: int) -> None:
        written.append(descriptor)
        if len(written) == 3:  # the last of three files
            raise OSError(28, "No space left on device")

    before = (folder / "MANIFEST.json").read_bytes()
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CheckpointError, match="No space left on device"):
        measurement.store(folder, {"heads.json": b"{}"})
    assert not (folder / "heads.json").exists()
    assert (folder / "MANIFEST.json").read_bytes() == before
    assert len(written) == 3


@pytest.mark.parametrize("is_marian", [False, True])
def test_a_file_of_a_person_is_not_replaced(checkpoint_folder, tmp_path, is_marian):
    folder = tmp_path / "copy"
    if is_marian:
        marian_folder.write(folder)
    else:
        shutil.copytree(checkpoint_folder, folder)
    measurement.store(folder, {"heads.json": b"{}"})
    measurement.store(folder, {"heads.json": b"[]"})
    (folder / "heads.json").write_bytes(b"edited")
    (folder / "means").write_bytes(b"mine")
    for name in ("heads.json", "means"):
        before = fingerprint(folder)
        with pytest.raises(CheckpointError, match=f"{name} is there and would be lost"):
            measurement.store(folder, {"new": b"", name: b"ours"})
        with pytest.raises(CheckpointError, match=f"{name} is there and would be lost"):
            measurement.require_place(folder, folder / "out", ["out", name])
        assert fingerprint(folder) == before


def test_beside_a_pipe_no_other_file_is_written(tmp_path, capsys, monkeypatch):
    reader, writer = os.pipe()
    out = Path(f"/dev/fd/{writer}")
    monkeypatch.setattr("os.access", lambda *_: False)  # as /dev is, but for root
    measurement.require_place(tmp_path, out, ["heads.json", "means"])
    measurement.store_or_write(tmp_path, out, {"heads.json": b"{}", "means": b""})
    assert os.read(reader, 9) == b"{}"
    assert "means is not written" in capsys.readouterr().err
    for opened in (reader, writer):
        os.close(opened)
