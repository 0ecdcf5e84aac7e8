"""A MarianMT folder that is damaged or of another kind: one sentence, and nothing half-loaded."""

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from tests.transformer.checkpoints.marian import marian_folder
from transformer import CheckpointError, Translator
from transformer.checkpoints import checkpoint, marian


class Planted:
    """Runs something when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("planted",)


def config(**changes: Any) -> Callable[[Path], None]:
    """Change fields of config.json; a field that becomes None is taken out."""

    def damage(folder: Path) -> None:
        path = folder / "config.json"
        values = json.loads(path.read_text()) | changes
        path.write_text(json.dumps({k: v for k, v in values.items() if v is not None}))

    return damage


def vocabulary(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = folder / "vocab.json"
        path.write_text(json.dumps(change(json.loads(path.read_text()))))

    return damage


def weights(change: Callable[[dict[str, torch.Tensor]], Any]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = folder / "model.safetensors"
        stored = safetensors.torch.load(path.read_bytes())
        change(stored)
        safetensors.torch.save_file(stored, path)

    return damage


def replaced(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: void((folder / name).write_bytes(content))


def without(*names: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return damage


def void(_: object) -> None:
    return None


def pickled(value: Any) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(value, protocol=2))

    return damage


def set_nan(stored: dict[str, torch.Tensor]) -> None:
    stored["model.decoder.layers.1.fc2.bias"][3] = torch.nan


def other_spm(folder: Path) -> None:
    lines = tuple(chr(0x4E00 + number) * 3 for number in range(60))
    (folder / "target.spm").write_bytes(marian_folder.spm(lines))


FC1 = "model.encoder.layers.0.fc1.weight"
BAD: dict[str, tuple[Callable[[Path], None], str]] = {
    "no tokenizer": (without("source.spm", "target.spm"), "no tokenizer: source.spm is missing"),
    "no target tokenizer": (without("target.spm"), "target.spm is missing"),
    "vocabulary of lists": (replaced("vocab.json", b"[]"), "does not give each piece a number"),
    "no <pad>": (
        vocabulary(lambda v: {piece: n for piece, n in v.items() if piece != "<pad>"}),
        "lacks the piece '<pad>'",
    ),
    "a larger vocabulary": (
        vocabulary(lambda v: v | {"▁larger": 10_000}),
        "has one with number 10,000: they belong to different models",
    ),
    "another spm": (other_spm, "most are not in the vocabulary"),
    "another architecture": (config(model_type="bart"), "a model of type 'bart'"),
    "a layer too many": (config(decoder_layers=3), "lacks tensor 'model.decoder.layers.2."),
    "a word for a scale": (config(scale_embedding="x"), "scale_embedding = 'x'"),
    "pre-norm": (config(normalize_before=True), "pre-norm"),
    "odd d_model": (config(d_model=15, encoder_attention_heads=1, decoder_attention_heads=1),
                    "d_model = 15 must be even"),
    "heads of the decoder that do not divide": (
        config(decoder_attention_heads=3), "among decoder_h = 3"),
    "huge": (config(d_model=2**14), "describes no model"),
    "no start": (config(decoder_start_token_id=None), "decoder_start_token_id = None"),
    "not finite": (weights(set_nan), "not finite"),
    "another projection": (
        weights(
            lambda stored: stored.update({"lm_head.weight": stored["model.shared.weight"] + 1})
        ),
        "'lm_head.weight' is another matrix than 'model.shared.weight'",
    ),
    "a projection of its own": (config(tie_word_embeddings=False), "lm_head.weight"),
    "an added token": (replaced("added_tokens.json", b'{"covid19": 95}'), "the token 'covid19'"),
    "another added token": (
        replaced("tokenizer_config.json", b'{"added_tokens_decoder": {"94": {"content": "x1"}}}'),
        "adds the token 'x1' to its pieces"),
    "a pickle that runs something": (pickled(Planted()), "not a file of weights alone"),
    "no pickle": (
        lambda folder: void((folder / "model.safetensors").rename(folder / "pytorch_model.bin")),
        "not a file of weights alone",
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return marian_folder.write(tmp_path / "opus-mt-en-fr")


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_said_in_one_sentence(name: str, folder: Path) -> None:
    damage, expected = BAD[name]
    damage(folder)
    with pytest.raises(CheckpointError) as caught:
        Translator.load(folder)
    assert expected in str(caught.value)
    assert not Path("planted").exists()


def test_it_is_not_stored_as_a_checkpoint_of_ours(folder: Path, tmp_path: Path) -> None:
    loaded = marian.load(folder)
    with pytest.raises(CheckpointError, match="keep the folder as it is"):
        checkpoint.save(tmp_path / "new", loaded.model, loaded.tokenizer)
    assert not (tmp_path / "new").exists()


def test_which_folders_are_of_the_hub(folder: Path, checkpoint_folder: Path) -> None:
    assert marian.is_marian(folder)
    assert not marian.is_marian(checkpoint_folder)
    assert not marian.is_marian(folder / "nowhere")
    with pytest.raises(CheckpointError, match="There is no checkpoint folder"):
        Translator.load(folder / "nowhere")
