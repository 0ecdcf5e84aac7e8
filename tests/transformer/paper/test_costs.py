"""Parameters by part, by formula, module and paper; Table 1 as numbers."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from transformer import TransformerConfig
from transformer.attention import MultiHeadAttention
from transformer.paper import costs

SMALL: dict[str, Any] = {
    "vocab_size": 50,
    "N": 3,
    "d_model": 12,
    "d_ff": 20,
    "h": 2,
    "max_length": 7,
}
CONFIGS = [
    TransformerConfig.base(),
    TransformerConfig.big(),
    TransformerConfig(**SMALL, positions="learned"),
    TransformerConfig(**{**SMALL, "h": 5}, d_k=3, d_v=4, attention_bias=True),
    TransformerConfig(**SMALL, output_bias=True, source_vocab_size=90, activation="swish"),
    TransformerConfig(
        **SMALL, decoder_N=1, decoder_h=4, decoder_d_ff=9, own_projection=True, attention_bias=True
    ),
    TransformerConfig(**{**SMALL, "N": 1, "d_model": 7, "h": 1}, positions="learned", d_k=2),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_each_part_is_what_the_modules_hold(config: TransformerConfig) -> None:
    model = costs.meta_model(config)
    assert costs.parameters_by_formula(config) == costs.parameters_of_model(model)
    assert tuple(costs.parameters_of_model(model)) == costs.PARTS
    assert sum(costs.parameters_by_formula(config).values()) == model.number_of_parameters()


def test_each_stack_s_attention_is_counted_as_its_own() -> None:
    model = costs.meta_model(TransformerConfig(**SMALL))
    model.decoder.layers = model.decoder.layers[:1]
    parts = costs.parameters_of_model(model)
    assert parts[costs.ENCODER_ATTENTION] == 3 * 4 * 12**2
    assert parts[costs.DECODER_ATTENTION] == parts[costs.CROSS_ATTENTION] == 4 * 12**2


SIZES = costs.Sizes(d=512, k=3, r=64, h=8)


@pytest.mark.parametrize(
    ("layer", "operations", "stored"),
    [
        (costs.SELF_ATTENTION, 100**2 * 512, 100 * 512 + 8 * 100 * 100),
        (costs.RECURRENT, 100 * 512**2, 100 * 512),
        (costs.CONVOLUTIONAL, 3 * 100 * 512**2, 100 * 512),
        (costs.RESTRICTED, 64 * 100 * 512, 100 * 512 + 8 * 100 * 64),
    ],
)
def test_the_work_is_the_papers_and_only_attention_keeps_a_weight_for_each_pair(
    layer, operations, stored
):
    assert costs.work(layer, 100, SIZES) == operations
    assert costs.work(layer, np.array([80.0, 100.0, 4000.0]), SIZES)[1] == operations
    assert costs.memory(layer, 100, SIZES) == stored
    assert layer in costs.LAYERS


def test_where_the_curves_cross_both_layers_do_the_same_work() -> None:
    at = costs.crossings(SIZES)
    assert at == {costs.RECURRENT: 512, costs.CONVOLUTIONAL: 1536, costs.RESTRICTED: 64}
    for layer, n in at.items():
        assert costs.work(costs.SELF_ATTENTION, n, SIZES) == costs.work(layer, n, SIZES)
        assert costs.work(costs.SELF_ATTENTION, n + 1, SIZES) > costs.work(layer, n + 1, SIZES)
    for layer in (costs.RECURRENT, costs.CONVOLUTIONAL):
        assert costs.work(costs.SELF_ATTENTION, at[layer] - 1, SIZES) < costs.work(
            layer, at[layer] - 1, SIZES
        )


def test_what_must_follow_one_another() -> None:
    for layer in costs.LAYERS:
        expected = [7, 90] if layer == costs.RECURRENT else [1, 1]
        assert costs.sequential(layer, [7, 90], SIZES).tolist() == expected


def test_multiplications_are_those_that_torch_does() -> None:
    """FLOPs of torch are two for each multiplication; it counts none of an LSTM."""
    n, d, h, k = 12, 16, 4, 3
    x = torch.randn(1, n, d)
    sizes = costs.Sizes(d=d, k=k, r=n, h=h)
    attention = MultiHeadAttention(TransformerConfig(vocab_size=8, d_model=d, h=h))
    convolution = torch.nn.Conv1d(d, d, k, padding="same")
    for layer, run in (
        (costs.SELF_ATTENTION, lambda: attention(x, x)),
        (costs.CONVOLUTIONAL, lambda: convolution(x.transpose(1, 2))),
    ):
        with FlopCounterMode(display=False) as counter:
            run()
        assert 2 * costs.multiplications(layer, n, sizes) == counter.get_total_flops()
    assert costs.multiplications(costs.RESTRICTED, n, sizes) == costs.multiplications(
        costs.SELF_ATTENTION, n, sizes
    )
    lstm = torch.nn.LSTM(d, d)
    matrices = (weight for weight in lstm.parameters() if weight.dim() == 2)
    used = n * sum(weight.numel() for weight in matrices)
    assert costs.multiplications(costs.RECURRENT, n, sizes) == used
