"""Weights of a MarianMT folder: sizes, names and types are compared before any weight is read."""

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from tests.transformer.checkpoints.marian import marian_folder
from transformer import CheckpointError
from transformer.checkpoints import marian

FC1 = "model.decoder.layers.1.fc1.weight"
GIB = 2**30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return marian_folder.write(tmp_path / "opus-mt-en-fr", max_length=32)


def stored(folder: Path) -> dict[str, Any]:
    return safetensors.torch.load((folder / "model.safetensors").read_bytes())


def pickled(folder: Path, weights: Any, *, old: bool = False) -> Path:
    """Put a pickle in the place of the safetensors."""
    (folder / "model.safetensors").unlink()
    path = folder / "pytorch_model.bin"
    torch.save(weights, path, _use_new_zipfile_serialization=not old)
    return path


def refusal(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        marian.load(folder)
    return str(caught.value)


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a weight is read, or their checksum is begun."""
    monkeypatch.setattr(torch.Tensor, "aminmax", lambda _: pytest.fail("a weight was read"))
    monkeypatch.setattr(hashlib, "file_digest", lambda *_: pytest.fail("the file was read"))


@pytest.mark.parametrize("old", [False, True])
def test_pickles_of_both_formats_hold_the_same_weights(folder: Path, old: bool) -> None:
    expected = dict(marian.load(folder).model.named_parameters())
    pickled(folder, stored(folder), old=old)
    for name, parameter in marian.load(folder).model.named_parameters():
        assert torch.equal(parameter, expected[name]), name


class Made:
    """Makes a value from nothing when it is unpickled."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.reduced = function, arguments

    def __reduce__(self) -> Any:
        return self.reduced


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    "value",
    [
        torch.empty(24, 16, device="meta"),
        Made(torch.FloatTensor, 2**36),
        "x" * 2**22,
    ],
    ids=["meta", "tensor", "long"],
)
def test_a_pickle_of_more_than_stored_tensors_is_not_opened(folder, monkeypatch, value, old):
    pickled(folder, {**stored(folder), FC1: value}, old=old)
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("it was opened"))
    assert "not a file of weights alone" in refusal(folder)


@pytest.mark.parametrize("member", ["data.pkl", "data/7"])
def test_a_packed_archive_is_not_unpacked(folder, monkeypatch, member):
    path = pickled(folder, stored(folder))
    with zipfile.ZipFile(path) as archive:
        contents = {entry: archive.read(entry) for entry in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            packed = name.endswith(f"/{member}")
            archive.writestr(name, content, zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED)
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("it was opened"))
    assert "not a file of weights alone" in refusal(folder)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("old", [False, True])
def test_one_number_in_the_place_of_many_is_no_tensor(folder: Path, old: bool) -> None:
    pickled(folder, {**stored(folder), FC1: torch.ones(1).expand(24, 16)}, old=old)
    assert "not a file of weights alone" in refusal(folder)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({FC1: torch.zeros(3, 4)}, f"'{FC1}' has shape [3, 4]"),
        ({FC1: torch.zeros(24, 16, dtype=torch.int32)}, "stored as int32"),
        ({FC1: None}, f"lacks tensor '{FC1}'"),
        ({"model.encoder.embed_positions.weight": torch.zeros(7, 16)}, "has shape [7, 16]"),
    ],
)
def test_a_header_that_does_not_fit_is_refused_before_a_weight_is_read(
    folder, name, change, expected
):
    weights = {
        n: tensor for n, tensor in {**stored(folder), **change}.items() if tensor is not None
    }
    if name == "pytorch_model.bin":
        pickled(folder, weights)
    else:
        safetensors.torch.save_file(weights, folder / name)
    assert expected in refusal(folder)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("old", [None, False, True])
def test_a_file_of_more_than_the_configuration_describes_is_not_read(folder, old):
    path = folder / "model.safetensors"
    if old is not None:
        path = pickled(folder, stored(folder), old=old)
    with path.open("r+b") as file:
        file.truncate(7 * GIB)  # a hole: it takes no room
    assert f"{path} cannot be read: it has 7,516,192,768 bytes, but at most 8," in refusal(folder)
