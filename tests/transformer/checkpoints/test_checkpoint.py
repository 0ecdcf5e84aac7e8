import hashlib
import json
import os

import pytest
import safetensors.torch
import torch

from tests.transformer.damaged import FILES, folder, refusal, replace, tensors_of
from transformer import CheckpointError, Tokenizer, Transformer, TransformerConfig
from transformer.checkpoints import checkpoint

__all__ = ["folder"]  # a fixture: used by name


def test_what_was_saved_is_what_is_loaded(folder, model, tokenizer):
    loaded = checkpoint.load(folder)
    assert loaded.model.config == model.config
    assert loaded.tokenizer.model == tokenizer.model
    expected, found = model.state_dict(), loaded.model.state_dict()
    assert expected.keys() == found.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    source, target = torch.tensor([[5, 6, 3]]), torch.tensor([[2, 7]])
    assert torch.equal(loaded.model(source, target), model(source, target))


def test_a_loaded_model_is_ready_to_be_used(folder):
    model = checkpoint.load(folder).model
    assert not any(module.training for module in model.modules())
    assert all(point.name for point in model.hook_points().values())
    assert model.encoder.embedding.table is model.shared_embedding


def test_learned_positions_are_saved_too(tmp_path, tokenizer):
    config = TransformerConfig(
        vocab_size=160, N=1, d_model=8, d_ff=8, h=2, max_length=9, positions="learned"
    )
    model = Transformer(config)
    checkpoint.save(tmp_path / "learned", model, tokenizer)
    loaded = checkpoint.load(tmp_path / "learned").model
    for stack in ("encoder", "decoder"):
        saved, found = (getattr(m, stack).embedding.positions for m in (model, loaded))
        assert torch.equal(saved, found)


def test_sixteen_bits_take_half_the_room_and_are_loaded_as_float32(tmp_path, model, tokenizer):
    checkpoint.save(tmp_path / "fp32", model, tokenizer)
    checkpoint.save(tmp_path / "fp16", model, tokenizer, dtype=torch.float16)
    sizes = [(tmp_path / f / "model.safetensors").stat().st_size for f in ("fp32", "fp16")]
    assert sizes[1] < 0.6 * sizes[0]
    assert {t.dtype for t in tensors_of(tmp_path / "fp16").values()} == {torch.float16}
    for loaded, parameter in zip(
        checkpoint.load(tmp_path / "fp16").model.parameters(), model.parameters(), strict=True
    ):
        assert loaded.dtype == torch.float32
        assert torch.equal(loaded, parameter.half().float())


def test_the_shared_matrix_is_stored_once(folder, model):
    assert tensors_of(folder).keys() == dict(model.named_parameters()).keys()


def test_the_manifest_holds_the_checksum_of_every_file(tmp_path, model, tokenizer):
    extra = {"MODEL_CARD.md": "# A tiny model\n", "run.jsonl": '{"step": 1}\n'}
    checkpoint.save(tmp_path / "model", model, tokenizer, extra=extra)
    manifest = json.loads((tmp_path / "model" / "MANIFEST.json").read_bytes())
    assert manifest["format"] == 1
    others = {path for path in (tmp_path / "model").iterdir() if path.name != "MANIFEST.json"}
    assert manifest["sha256"] == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in others
    }
    assert {path.name for path in others} == {*FILES[:3], *extra}
    assert (tmp_path / "model" / "MODEL_CARD.md").read_text() == "# A tiny model\n"


def test_saving_over_a_checkpoint_replaces_it(folder, model, tokenizer):
    with torch.no_grad():
        other = Transformer(model.config)
    checkpoint.save(folder, other, tokenizer)
    assert torch.equal(checkpoint.load(folder).model.shared_embedding, other.shared_embedding)


def test_saving_removes_nothing_but_a_checkpoint(tmp_path, model, tokenizer):
    (tmp_path / "mine").mkdir()
    checkpoint.save(tmp_path / "mine", model, tokenizer)  # an empty folder is in nobody's way
    letter = tmp_path / "letters" / "dear.txt"
    letter.parent.mkdir()
    letter.write_text("Dear reader")
    for taken in (letter, letter.parent):
        with pytest.raises(CheckpointError, match=f"{taken.name} is there and is no checkpoint"):
            checkpoint.save(taken, model, tokenizer)
    assert letter.read_text() == "Dear reader"


def test_a_file_without_a_successor_is_not_lost(folder, model, tokenizer):
    checkpoint.save(folder, model, tokenizer, extra={"run.jsonl": "{}\n"})
    before = (folder / "MANIFEST.json").read_bytes()
    with pytest.raises(CheckpointError, match=r"'run\.jsonl' in it would be lost"):
        checkpoint.save(folder, model, tokenizer)
    assert (folder / "MANIFEST.json").read_bytes() == before
    checkpoint.save(folder, model, tokenizer, extra={"run.jsonl": "more\n"})
    assert (folder / "run.jsonl").read_text() == "more\n"


def test_one_checksum_means_one_model(tmp_path, folder, model, tokenizer):
    checkpoint.save(tmp_path / "again", model, tokenizer)
    checkpoint.save(tmp_path / "half", model, tokenizer, dtype=torch.float16)
    first, again, half = (
        checkpoint.load(f).checksum for f in (folder, tmp_path / "again", tmp_path / "half")
    )
    assert first == again != half


def test_a_folder_that_is_not_there_is_named(tmp_path):
    nowhere = tmp_path / "nowhere"
    assert refusal(nowhere) == f"There is no checkpoint folder {nowhere}."


def test_a_file_is_no_folder(folder):
    assert "config.json" in refusal(folder / "config.json")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert f"{name} is missing" in refusal(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_place_of_a_file_is_named(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    assert str(folder / name) in refusal(folder)


@pytest.mark.parametrize("keep", [0, 0.5, -1])
@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_named(folder, name, keep):
    content = (folder / name).read_bytes()
    cut = content[:-2] if keep == -1 else content[: int(keep * len(content))]
    (folder / name).write_bytes(cut)
    assert str(folder / name) in refusal(folder)


@pytest.mark.parametrize("name", FILES[:3])
@pytest.mark.parametrize("where", [0, 0.5, 1])
def test_one_flipped_bit_is_found(folder, name, where):
    content = bytearray((folder / name).read_bytes())
    content[int(where * (len(content) - 1))] ^= 1
    (folder / name).write_bytes(content)
    assert f"{folder / name} is damaged" in refusal(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"\xff\xfe{}",
        b"null",
        b"1",
        b'"format"',
        b"[]",
        b"{}",
        b'{"format": 1}',
        b'{"sha256": {}}',
        b'{"format": 1, "sha256": null}',
        b'{"format": 1, "sha256": "abc"}',
        b'{"format": 1, "sha256": [1, 2]}',
        b'{"format": 1, "sha256": [["a", 1], [2, "b"]]}',
        b"[" * 100_000,
    ],
    ids=lambda content: content[:24].decode(errors="replace"),
)
def test_a_foreign_manifest_is_named(folder, content):
    (folder / "MANIFEST.json").write_bytes(content)
    assert f"{folder / 'MANIFEST.json'} is not a manifest of ours" in refusal(folder)


@pytest.mark.parametrize("format_", [0, 2, "1", None, [1]])
def test_another_format_is_named(folder, format_):
    path = folder / "MANIFEST.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"format": format_}))
    assert f"{path} says format {format_!r}, but this program reads format 1" in refusal(folder)


@pytest.mark.parametrize("name", FILES[:3])
def test_a_manifest_that_leaves_a_file_out_is_named(folder, name):
    path = folder / "MANIFEST.json"
    manifest = json.loads(path.read_bytes())
    del manifest["sha256"][name]
    path.write_text(json.dumps(manifest))
    assert f"{path} does not list {name}" in refusal(folder)


def test_a_checksum_that_is_no_text_fits_nothing(folder):
    path = folder / "MANIFEST.json"
    manifest = json.loads(path.read_bytes())
    manifest["sha256"]["config.json"] = None
    path.write_text(json.dumps(manifest))
    assert "config.json is damaged" in refusal(folder)


# from here on every checksum is right: the folder was made by another program


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"\xff",
        b"[]",
        b"null",
        b"[" * 100_000,
        b"{}",
        b'{"vocab_size": 160, "n_layer": 12}',
        b'{"vocab_size": "160"}',
        b'{"vocab_size": 160, "d_model": 30, "h": 4}',
        b'{"vocab_size": 160, "P_drop": NaN}',
    ],
    ids=lambda content: content[:40].decode(errors="replace"),
)
def test_a_foreign_configuration_is_named(folder, content):
    replace(folder, "config.json", content)
    assert str(folder / "config.json") in refusal(folder)


def test_a_configuration_of_another_vocabulary_is_named(folder, model):
    values = model.config.to_dict() | {"vocab_size": 161}
    replace(folder, "config.json", json.dumps(values).encode())
    sentence = refusal(folder)
    assert f"{folder / 'config.json'} says vocab_size = 161" in sentence
    assert "160 pieces" in sentence


def test_a_tokenizer_of_another_vocabulary_is_named(folder, pairs):
    other = Tokenizer.train([pair.german for pair in pairs], vocab_size=120)
    replace(folder, "tokenizer.model", other.model)
    assert "tokenizer.model has 120 pieces" in refusal(folder)


@pytest.mark.parametrize("content", [b"", b"not a model"])
def test_a_foreign_tokenizer_is_named(folder, content):
    replace(folder, "tokenizer.model", content)
    assert "tokenizer.model" in refusal(folder)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_and_a_device_are_not_waited_for(folder, name, kind):
    (folder / name).unlink()
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")
    assert f"{folder / name} cannot be read: it is no regular file" in refusal(folder)


@pytest.mark.parametrize("damage", ["flip", "cut", "unlink", "pipe"])
@pytest.mark.parametrize("name", ["MODEL_CARD.md", "run.jsonl"])
def test_a_damaged_card_or_log_is_named(tmp_path, model, tokenizer, name, damage):
    folder = tmp_path / "model"
    extra = {"MODEL_CARD.md": "# A tiny model\n", "run.jsonl": '{"step": 1}\n'}
    checkpoint.save(folder, model, tokenizer, extra=extra)
    checkpoint.load(folder)
    content = (folder / name).read_bytes()
    (folder / name).unlink()
    if damage == "pipe":
        os.mkfifo(folder / name)
    elif damage != "unlink":
        changed = content[:-3] if damage == "cut" else b"%" + content[1:]
        (folder / name).write_bytes(changed)
    assert name in refusal(folder)


@pytest.mark.parametrize("name", ["../config.json", "/etc/passwd", "", "..", "a/b"])
def test_a_manifest_reaches_no_file_of_another_folder(folder, name):
    path = folder / "MANIFEST.json"
    manifest = json.loads(path.read_bytes())
    manifest["sha256"][name] = "0" * 64
    path.write_text(json.dumps(manifest))
    assert "which is no file of the folder" in refusal(folder)


@pytest.mark.parametrize("name", ["x" * 300, "x" * 10_000, "x\0y", "x\ny\x1b[31m"])
def test_a_name_that_cannot_be_is_one_short_printable_sentence(folder, name):
    path = folder / "MANIFEST.json"
    manifest = json.loads(path.read_bytes())
    manifest["sha256"][name] = "0" * 64
    path.write_text(json.dumps(manifest))
    for sentence in (refusal(folder), refusal(folder / name)):
        assert len(sentence) < 1_000
        assert sentence.isprintable()
        assert "…" in sentence or len(name) < 300
    tensors = tensors_of(folder) | {name.replace("\0", ""): torch.ones(1)}
    path.write_text(json.dumps(manifest | {"sha256": dict(list(manifest["sha256"].items())[:-1])}))
    replace(folder, "model.safetensors", safetensors.torch.save(tensors))
    assert len(refusal(folder)) < 1_000


def test_weights_that_are_not_finite_in_their_type_are_not_saved(tmp_path, model, tokenizer):
    with torch.no_grad():
        large = Transformer(model.config)
        large.get_parameter("encoder.layers.0.feed_forward.W_1.bias")[0] = 1e6
    with pytest.raises(CheckpointError, match=r"W_1\.bias' has weights that are not finite as fl"):
        checkpoint.save(tmp_path / "half", large, tokenizer, dtype=torch.float16)
    assert not (tmp_path / "half").exists()
    checkpoint.save(tmp_path / "half", large, tokenizer)
