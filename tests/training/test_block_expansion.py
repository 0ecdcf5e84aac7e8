"""A deeper model computes what the small one did, and its new layers can learn."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from training.initialisation import initialise_from
from transformer.config import Positions, TransformerConfig
from transformer.model import Transformer

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 10, 3, 0, 0]])
TARGET = torch.tensor([[2, 11, 12, 13], [2, 14, 15, 0]])


def _small(positions: Positions = "sinusoidal") -> Transformer:
    config = TransformerConfig(
        vocab_size=20, N=2, d_model=16, d_ff=24, h=2, P_drop=0.0, positions=positions, max_length=8
    )
    torch.manual_seed(3)
    model = Transformer(config)
    with torch.no_grad():
        for weight in model.parameters():  # norms and biases too, which begin alike
            weight.add_(torch.randn_like(weight), alpha=0.3)
    return model.eval()


def _deepened(small: Transformer, N: int) -> Transformer:
    deep = Transformer(replace(small.config, N=N))
    initialise_from(small, deep)
    return deep


def _loss(model: Transformer) -> Tensor:
    return model(SOURCE, TARGET).log_softmax(-1)[..., 4].mean()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@pytest.mark.parametrize("N", [2, 4, 6])
def test_it_computes_the_same(N: int, positions: Positions) -> None:
    small = _small(positions)
    before = {name: weight.clone() for name, weight in small.state_dict().items()}
    deep = _deepened(small, N).eval()
    assert deep.config.N == len(deep.encoder.layers) == len(deep.decoder.layers) == N
    torch.testing.assert_close(deep(SOURCE, TARGET), small(SOURCE, TARGET), atol=1e-4, rtol=1e-4)
    assert all(torch.equal(before[name], weight) for name, weight in small.state_dict().items())


def test_every_layer_has_a_gradient() -> None:
    deep = _deepened(_small(), 6)
    _loss(deep).backward()
    for name, weight in deep.named_parameters():
        if name.endswith(("W_O.weight", "W_2.weight")):
            assert weight.grad is not None
            assert weight.grad.abs().max() > 1e-5, name


def test_two_copies_of_a_layer_do_not_share_a_weight() -> None:
    deep = _deepened(_small(), 4)
    first, second = (
        deep.get_parameter(f"encoder.layers.{n}.self_attention.W_Q.weight") for n in (0, 1)
    )
    assert torch.equal(first, second)
    with torch.no_grad():
        first.zero_()
    assert second.any()


def test_every_layer_has_hook_points_of_its_own() -> None:
    small = _small()
    deep = _deepened(small, 4)
    names = {f"decoder.layers.{n}.cross_attention.hook_z" for n in range(4)}
    _, seen = deep.run_with_cache(SOURCE, TARGET, names=lambda name: name in names)
    assert set(seen) == names
    assert not set(deep.hook_points().values()) & set(small.hook_points().values())
