import hashlib
import json

import pytest
import safetensors.torch
import torch

from tests.transformer.damaged import FILES, folder, refusal, replace, tensors_of
from transformer import CheckpointError, Transformer
from transformer.checkpoints import checkpoint
from transformer.text.languages import OURS, Languages

__all__ = ["folder"]  # a fixture: used by name


def test_what_was_saved_is_what_is_loaded(folder, model, tokenizer):
    loaded = checkpoint.load(folder)
    assert loaded.model.config == model.config
    assert loaded.tokenizer.model == tokenizer.model
    expected, actual = model.state_dict(), loaded.model.state_dict()
    assert expected.keys() == actual.keys()
    assert all(torch.equal(actual[name], expected[name]) for name in expected)
    source, target = torch.tensor([[5, 6, 3]]), torch.tensor([[2, 7]])
    assert torch.equal(loaded.model(source, target), model(source, target))


def test_a_loaded_model_is_ready_to_be_used(folder):
    model = checkpoint.load(folder).model
    assert not any(module.training for module in model.modules())
    assert all(point.name for point in model.hook_points().values())
    assert model.encoder.embedding.table is model.shared_embedding


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


def test_the_languages_come_back_and_without_them_it_is_english_and_german(
    tmp_path, model, tokenizer
):
    folder, french_dutch = tmp_path / "model", Languages("French", "Dutch")
    for languages in (french_dutch, OURS, french_dutch):  # each replaces the one before
        checkpoint.save(folder, model, tokenizer, languages=languages)
        assert checkpoint.load(folder).languages == languages
        assert checkpoint.read_languages(folder) == languages
        manifest = json.loads((folder / "MANIFEST.json").read_bytes())
        assert ("languages" in manifest) == (languages != OURS)


def test_a_file_without_a_successor_is_not_lost(folder, model, tokenizer):
    checkpoint.save(folder, model, tokenizer, extra={"run.jsonl": "{}\n"})
    before = (folder / "MANIFEST.json").read_bytes()
    with pytest.raises(CheckpointError, match=r"'run\.jsonl' in it would be lost"):
        checkpoint.save(folder, model, tokenizer)
    assert (folder / "MANIFEST.json").read_bytes() == before
    checkpoint.save(folder, model, tokenizer, extra={"run.jsonl": "more\n"})
    assert (folder / "run.jsonl").read_text() == "more\n"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        *(({"format": other}, f"says format {other!r}, but") for other in (2, None)),
        *((name, f"does not list {name}") for name in FILES[:3]),
        *(
            ({"languages": names}, "is not a Headlight manifest")
            for names in (["French"], ["French", "<b>"], 7)
        ),
        ({"config.json": None}, "config.json is damaged"),
        *(
            ({name: "0" * 64}, "which is not a file of the folder")
            for name in ("../config.json", "/etc/passwd", "")
        ),
    ],
)
def test_a_manifest_of_another_content_is_refused(folder, change, sentence):
    path = folder / "MANIFEST.json"
    manifest = json.loads(path.read_bytes())
    if isinstance(change, str):
        del manifest["sha256"][change]
    elif change.keys() & {"format", "languages"}:
        manifest |= change
    else:
        manifest["sha256"] |= change
    path.write_text(json.dumps(manifest))
    assert sentence in refusal(folder)


# from here on every checksum is right: the folder was made by another program


def test_a_configuration_of_another_vocabulary_is_named(folder, model):
    values = model.config.to_dict() | {"vocab_size": 161}
    replace(folder, "config.json", json.dumps(values).encode())
    sentence = refusal(folder)
    assert f"{folder / 'config.json'} says vocab_size = 161" in sentence
    assert "160 pieces" in sentence


@pytest.mark.parametrize("name", ["x" * 10_000, "x\0y", "x\ny\x1b[31m"])
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


# weights of another size, shape, type or value than the configuration says


def test_tensors_that_do_not_fit_the_configuration_are_named(folder):
    output, bias = (
        "decoder.layers.1.cross_attention.W_O.weight",
        "encoder.layers.0.feed_forward.W_1.bias",
    )
    tensors = tensors_of(folder)
    changed = tensors | {output: tensors[output][:, :16].contiguous()}
    lacking = {name: tensor for name, tensor in tensors.items() if name != bias}
    unknown = tensors | {"encoder.norm.weight": torch.ones(32)}
    for stored, sentence in (
        (changed, f"'{output}' has shape [32, 16], but config.json asks for [32, 32]"),
        (lacking, f"lacks tensor '{bias}'"),
        (unknown, "has the unknown tensor 'encoder.norm.weight'"),
    ):
        replace(folder, "model.safetensors", safetensors.torch.save(stored))
        assert f"{folder / 'model.safetensors'}" in refusal(folder)
        assert sentence in refusal(folder)


@pytest.mark.parametrize(
    ("value", "dtype"), [(float("nan"), torch.float32), (-float("inf"), torch.float16)]
)
def test_weights_that_are_not_finite_are_named(folder, value, dtype):
    name = "encoder.layers.1.feed_forward.W_1.bias"
    tensors = {n: t.to(dtype) for n, t in tensors_of(folder).items()}
    tensors[name][7] = value
    replace(folder, "model.safetensors", safetensors.torch.save(tensors))
    assert f"'{name}' has weights that are not finite" in refusal(folder)


@pytest.mark.parametrize("dtype", [torch.int8, torch.float8_e4m3fn, torch.float64], ids=str)
def test_other_types_of_weights_are_named_and_never_converted(folder, dtype):
    tensors = tensors_of(folder)
    tensors["shared_embedding"] = tensors["shared_embedding"].to(dtype)
    replace(folder, "model.safetensors", safetensors.torch.save(tensors))
    assert "'shared_embedding' is stored as" in refusal(folder)


@pytest.mark.parametrize("name", ["N", "d_model", "d_ff", "h", "d_k", "d_v", "max_length"])
def test_a_huge_size_is_refused_before_anything_is_built(folder, model, name, monkeypatch):
    monkeypatch.setattr(Transformer, "unfilled", lambda _: pytest.fail("it was built"))
    for power in (17, 40):
        values = model.config.to_dict() | {name: 2**power}
        replace(folder, "config.json", json.dumps(values).encode())
        assert f"{folder / 'config.json'} describes no model" in refusal(folder) or power == 17


def test_more_bytes_than_the_configuration_asks_for_are_not_read(folder):
    path = folder / "model.safetensors"
    with path.open("r+b") as file:
        file.truncate(12 * 10**9)  # a hole: it takes no room
    assert f"{path} cannot be read: it has 12,000,000,000 bytes, but at most" in refusal(folder)
