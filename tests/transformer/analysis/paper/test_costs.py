"""Parameters by part, by formula, module and paper; Table 1 as numbers."""

from typing import Any

import numpy as np
import pytest

from transformer import TransformerConfig
from transformer.analysis.paper.costs import (
    CONVOLUTIONAL,
    CROSS_ATTENTION,
    DECODER_ATTENTION,
    EMBEDDING,
    ENCODER_ATTENTION,
    FEED_FORWARD,
    LAYERS,
    NORMS,
    PARTS,
    POSITIONS,
    RECURRENT,
    RESTRICTED,
    SELF_ATTENTION,
    Sizes,
    crossings,
    memory,
    meta_model,
    parameter_shapes,
    parameters_by_formula,
    parameters_of_model,
    work,
)

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
    TransformerConfig(**SMALL),
    TransformerConfig(**SMALL, positions="learned"),
    TransformerConfig(**{**SMALL, "h": 5}, d_k=3, d_v=4),
    TransformerConfig(**{**SMALL, "h": 5}, d_k=3, d_v=4, attention_bias=True),
    TransformerConfig(**SMALL, output_bias=True, source_vocab_size=90, activation="swish"),
    TransformerConfig(
        **SMALL, decoder_N=1, decoder_h=4, decoder_d_ff=9, own_projection=True, attention_bias=True
    ),
    TransformerConfig(**{**SMALL, "N": 1, "d_model": 7, "h": 1}, positions="learned", d_k=2),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_each_part_is_what_the_modules_hold(config: TransformerConfig) -> None:
    model = meta_model(config)
    assert parameters_by_formula(config) == parameters_of_model(model)
    assert tuple(parameters_of_model(model)) == PARTS
    assert sum(parameters_by_formula(config).values()) == model.number_of_parameters()


def test_the_base_model_by_hand() -> None:
    """Table 3's base row with 37,000 pieces; no two parts can be mixed up unseen with N = 6."""
    assert parameters_by_formula(TransformerConfig.base()) == {
        EMBEDDING: 37_000 * 512,
        POSITIONS: 0,
        ENCODER_ATTENTION: 6 * 4 * 512**2,
        DECODER_ATTENTION: 6 * 4 * 512**2,
        CROSS_ATTENTION: 6 * 4 * 512**2,
        FEED_FORWARD: 12 * (2 * 512 * 2048 + 2048 + 512),
        NORMS: 30 * 2 * 512,
    }


def test_each_stack_s_attention_is_counted_as_its_own() -> None:
    model = meta_model(TransformerConfig(**SMALL))
    model.decoder.layers = model.decoder.layers[:1]
    parts = parameters_of_model(model)
    assert parts[ENCODER_ATTENTION] == 3 * 4 * 12**2
    assert parts[DECODER_ATTENTION] == parts[CROSS_ATTENTION] == 4 * 12**2


def test_a_module_tells_its_matrices() -> None:
    config = TransformerConfig(**{**SMALL, "h": 5}, d_k=3, d_v=4)
    model = meta_model(config)
    assert parameter_shapes(model, "decoder.layers.2.cross_attention") == {
        "W_Q.weight": (15, 12),
        "W_K.weight": (15, 12),
        "W_V.weight": (20, 12),
        "W_O.weight": (12, 20),
    }
    assert parameter_shapes(model, "shared_embedding") == {"shared_embedding": (50, 12)}
    with pytest.raises(AttributeError):
        parameter_shapes(model, "decoder.layers.3.cross_attention")


SIZES = Sizes(d=512, k=3, r=64, h=8)


@pytest.mark.parametrize(
    ("layer", "operations", "stored"),
    [
        (SELF_ATTENTION, 100**2 * 512, 100 * 512 + 8 * 100 * 100),
        (RECURRENT, 100 * 512**2, 100 * 512),
        (CONVOLUTIONAL, 3 * 100 * 512**2, 100 * 512),
        (RESTRICTED, 64 * 100 * 512, 100 * 512 + 8 * 100 * 64),
    ],
)
def test_the_work_is_the_papers_and_only_attention_keeps_a_weight_for_each_pair(
    layer, operations, stored
) -> None:
    assert work(layer, 100, SIZES) == operations
    assert work(layer, np.array([80.0, 100.0, 4000.0]), SIZES)[1] == operations
    assert memory(layer, 100, SIZES) == stored
    assert layer in LAYERS


def test_where_the_curves_cross_both_layers_do_the_same_work() -> None:
    at = crossings(SIZES)
    assert at == {RECURRENT: 512, CONVOLUTIONAL: 1536, RESTRICTED: 64}
    for layer, n in at.items():
        assert work(SELF_ATTENTION, n, SIZES) == work(layer, n, SIZES)
        assert work(SELF_ATTENTION, n + 1, SIZES) > work(layer, n + 1, SIZES)
    for layer in (RECURRENT, CONVOLUTIONAL):
        assert work(SELF_ATTENTION, at[layer] - 1, SIZES) < work(layer, at[layer] - 1, SIZES)


def test_a_neighbourhood_is_never_larger_than_the_sentence() -> None:
    for quantity in (work, memory):
        assert quantity(RESTRICTED, 10, SIZES) == quantity(SELF_ATTENTION, 10, SIZES)
