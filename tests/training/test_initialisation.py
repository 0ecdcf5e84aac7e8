"""First weights: the deeper the layer the smaller, or those of a shallower model."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.training.conftest import TinyRun
from tests.training.runs import weights
from training.initialisation import initialise_from
from transformer.config import Positions, TransformerConfig
from transformer.model import Transformer

MATRIX = re.compile(r"(?:en|de)coder\.layers\.(\d)\.(?!.*norm).*weight")


def test_the_matrices_of_layer_l_begin_divided_by_its_root(tiny: TinyRun) -> None:
    # one step, which a rate of next to nothing leaves without effect
    tiny.change(N=3, lr_factor=1e-12, steps=1)
    plain = weights(tiny.train(out="plain"))
    tiny.change(depth_scaled=True)
    scaled = weights(tiny.train(out="scaled"))
    divided = set()
    for name, weight in plain.items():
        l = 1  # noqa: E741, the symbol of the article
        if at := MATRIX.fullmatch(name):
            l = int(at[1]) + 1  # noqa: E741
            divided.add(name)
        torch.testing.assert_close(scaled[name], weight / math.sqrt(l), rtol=1e-5, atol=1e-9)
    # 4 of attention and 2 of the feed-forward network; the decoder has both kinds of attention
    assert len(divided) == 3 * (4 + 2) + 3 * (4 + 4 + 2)


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
