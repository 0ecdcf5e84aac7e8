"""Weights of another size, shape, type or value than the configuration says are refused."""

import json
import pickle
import shutil
from pathlib import Path

import pytest
import safetensors.torch
import torch

from tests.transformer.damaged import FILES, folder, refusal, replace, tensors_of
from transformer import Transformer
from transformer.checkpoints import checkpoint

__all__ = ["folder"]  # a fixture: used by name


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_weights_that_were_cut_before_they_were_signed_are_named(folder, keep):
    content = (folder / "model.safetensors").read_bytes()
    replace(folder, "model.safetensors", content[:keep])
    assert f"{folder / 'model.safetensors'} is not a safetensors file" in refusal(folder)


def test_a_pickle_is_never_opened(folder, tmp_path):
    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "sprung",)

    for content in (pickle.dumps(Trap()), torch_pickle(Trap(), tmp_path)):
        for name in FILES[:3]:
            damaged = Path(shutil.copytree(folder, tmp_path / "trapped"))
            replace(damaged, name, content)
            assert name in refusal(damaged)
            shutil.rmtree(damaged)
    assert not (tmp_path / "sprung").exists()


def torch_pickle(value, tmp_path):
    torch.save(value, tmp_path / "pickle.pt")
    return (tmp_path / "pickle.pt").read_bytes()


def test_a_tensor_of_another_shape_is_named(folder):
    name = "decoder.layers.1.cross_attention.W_O.weight"
    tensors = tensors_of(folder)
    tensors[name] = tensors[name][:, :16].contiguous()
    replace(folder, "model.safetensors", safetensors.torch.save(tensors))
    sentence = refusal(folder)
    assert f"{folder / 'model.safetensors'}: '{name}' has shape [32, 16]" in sentence
    assert "asks for [32, 32]" in sentence


def test_a_lacking_tensor_is_named(folder):
    tensors = tensors_of(folder)
    del tensors["encoder.layers.0.feed_forward.W_1.bias"]
    replace(folder, "model.safetensors", safetensors.torch.save(tensors))
    assert "lacks tensor 'encoder.layers.0.feed_forward.W_1.bias'" in refusal(folder)


def test_an_unknown_tensor_is_named(folder):
    tensors = tensors_of(folder) | {"encoder.norm.weight": torch.ones(32)}
    replace(folder, "model.safetensors", safetensors.torch.save(tensors))
    assert "has the unknown tensor 'encoder.norm.weight'" in refusal(folder)


def test_weights_of_another_depth_are_named(folder, model):
    values = model.config.to_dict() | {"N": 1}
    replace(folder, "config.json", json.dumps(values).encode())
    assert "has the unknown tensor 'decoder.layers.1." in refusal(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_weights_that_are_not_finite_are_named(folder, value, dtype):
    name = "encoder.layers.1.feed_forward.W_1.bias"
    tensors = {n: t.to(dtype) for n, t in tensors_of(folder).items()}
    tensors[name][7] = value
    replace(folder, "model.safetensors", safetensors.torch.save(tensors))
    assert f"'{name}' has weights that are not finite" in refusal(folder)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_types_of_sixteen_bits_become_float32_exactly(folder, dtype):
    tensors = {n: t.to(dtype) for n, t in tensors_of(folder).items()}
    replace(folder, "model.safetensors", safetensors.torch.save(tensors))
    for name, parameter in checkpoint.load(folder).model.named_parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, tensors[name].float())


@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.bool, torch.int64, torch.float8_e4m3fn, torch.float64], ids=str
)
def test_other_types_of_weights_are_named_and_never_converted(folder, dtype):
    tensors = tensors_of(folder)
    tensors["shared_embedding"] = tensors["shared_embedding"].to(dtype)
    replace(folder, "model.safetensors", safetensors.torch.save(tensors))
    assert "'shared_embedding' is stored as" in refusal(folder)


@pytest.mark.parametrize("dtype", ["C64", "F4", "F128", "f32", ""])
def test_a_type_that_nobody_knows_is_one_sentence(folder, dtype):
    content = (folder / "model.safetensors").read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["shared_embedding"]["dtype"] = dtype
    written = json.dumps(header).encode()
    content = len(written).to_bytes(8, "little") + written + content[8 + length :]
    replace(folder, "model.safetensors", content)
    assert str(folder / "model.safetensors") in refusal(folder)


@pytest.mark.parametrize("power", [17, 40, 1_000])
@pytest.mark.parametrize("name", ["N", "d_model", "d_ff", "h", "d_k", "d_v", "max_length"])
def test_a_huge_size_is_refused_before_anything_is_built(folder, model, name, power, monkeypatch):
    monkeypatch.setattr(Transformer, "unfilled", lambda _: pytest.fail("it was built"))
    values = model.config.to_dict() | {name: 2**power}
    replace(folder, "config.json", json.dumps(values).encode())
    assert f"{folder / 'config.json'} describes no model" in refusal(folder) or power == 17


def test_more_bytes_than_the_configuration_asks_for_are_not_read(folder):
    path = folder / "model.safetensors"
    with path.open("r+b") as file:
        file.truncate(12 * 10**9)  # a hole: it takes no room
    assert f"{path} cannot be read: it has 12,000,000,000 bytes, but at most" in refusal(folder)
