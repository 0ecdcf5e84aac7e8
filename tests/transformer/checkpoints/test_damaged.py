"""One table of damages for the files of every format: each is refused by the name of the file."""

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.transformer import damaged
from tests.transformer.checkpoints.marian import marian_folder
from transformer import AttentionTrace, CheckpointError, Translator
from transformer.checkpoints import checkpoint

OURS = ("model.safetensors", "config.json", "tokenizer.model")
OTHERS = ("MANIFEST.json", "MODEL_CARD.md", "run.jsonl")
FORMATS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "checkpoint": (checkpoint.load, (*OURS, *OTHERS)),
    "checkpoint, signed anew": (checkpoint.load, OURS),
    "marian": (
        Translator.load,
        ("model.safetensors", "config.json", "vocab.json", "source.spm", "target.spm"),
    ),
    "trace": (lambda folder: AttentionTrace.load(folder / "trace.npz"), ("trace.npz",)),
}
"""Reader and required files of each format."""


class Trap:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("sprung",)


CONTENTS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda content: content[: len(content) // 2],
    "other bytes": lambda content: bytes([content[0] ^ 255]) + content[1:],
    "deep": lambda _: b"[" * 100_000,
    "pickle": lambda _: pickle.dumps(Trap()),
}
KINDS: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory, checkpoint_folder, translator) -> dict[str, Path]:
    """A folder of each format."""
    place = tmp_path_factory.mktemp("sound")
    loaded = checkpoint.load(checkpoint_folder)
    extra = dict.fromkeys(OTHERS[1:], '{"step": 1}\n')
    checkpoint.save(place / "checkpoint", loaded.model, loaded.tokenizer, extra=extra)
    marian_folder.write(place / "marian")
    (place / "trace").mkdir()
    translator.trace("The dog.", "Der Hund.").save(place / "trace" / "trace.npz")
    for name, (load, _) in FORMATS.items():
        load(place / name.partition(",")[0])
    return {name: place / name.partition(",")[0] for name in FORMATS}


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("form", "name"), [(form, name) for form, (_, names) in FORMATS.items() for name in names]
)
def test_a_damaged_file_is_refused_by_its_name(sound, tmp_path, monkeypatch, form, name) -> None:
    monkeypatch.chdir(tmp_path)
    for damage in (*CONTENTS, *KINDS):
        folder = Path(shutil.copytree(sound[form], tmp_path / damage))
        path = folder / name
        content = path.read_bytes()
        path.unlink()
        if damage in KINDS:
            KINDS[damage](path)
        elif "signed" in form:
            damaged.replace(folder, name, CONTENTS[damage](content))
        else:
            path.write_bytes(CONTENTS[damage](content))
        with pytest.raises(CheckpointError) as caught:
            FORMATS[form][0](folder)
        assert name in str(caught.value), damage
        if damage in ("a pipe", "a device"):
            assert "not a regular file" in str(caught.value)
    assert not Path("sprung").exists()
