"""A checkpoint that may be damaged, and what loading it says then."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
import safetensors.torch

from transformer import CheckpointError
from transformer.checkpoints import checkpoint

FILES = ["model.safetensors", "config.json", "tokenizer.model", "MANIFEST.json"]


@pytest.fixture
def folder(checkpoint_folder, tmp_path):
    """A checkpoint that may be damaged."""
    return Path(shutil.copytree(checkpoint_folder, tmp_path / "copy"))


def refusal(folder):
    """The one sentence with which loading fails."""
    with pytest.raises(CheckpointError) as caught:
        checkpoint.load(folder)
    return str(caught.value)


def replace(folder, name, content):
    """Another content whose checksum is right."""
    (folder / name).write_bytes(content)
    path = folder / "MANIFEST.json"
    manifest = json.loads(path.read_bytes())
    manifest["sha256"][name] = hashlib.sha256(content).hexdigest()
    path.write_text(json.dumps(manifest))


def tensors_of(folder):
    return safetensors.torch.load((folder / "model.safetensors").read_bytes())
