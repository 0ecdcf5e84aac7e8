"""Parameters by part: the formula, the real modules and the paper agree."""

from typing import Any

import pytest
import torch

from transformer import Transformer, TransformerConfig
from transformer.analysis.paper.costs import (
    CROSS_ATTENTION,
    DECODER_ATTENTION,
    EMBEDDING,
    ENCODER_ATTENTION,
    FEED_FORWARD,
    NORMS,
    PARTS,
    POSITIONS,
    meta_model,
    parameter_shapes,
    parameters_by_formula,
    parameters_of_model,
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
    TransformerConfig(**{**SMALL, "N": 1, "d_model": 7, "h": 1}, positions="learned", d_k=2),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_each_part_is_what_the_modules_hold(config: TransformerConfig) -> None:
    model = meta_model(config)
    assert parameters_by_formula(config) == parameters_of_model(model)
    assert tuple(parameters_of_model(model)) == PARTS
    assert sum(parameters_by_formula(config).values()) == model.number_of_parameters()


@pytest.mark.parametrize("config", CONFIGS[2:])
def test_a_model_without_weights_is_as_large_as_one_with_them(config: TransformerConfig) -> None:
    real = Transformer(config)
    assert parameters_of_model(meta_model(config)) == parameters_of_model(real)
    assert {p.device for p in meta_model(config).parameters()} == {torch.device("meta")}


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


@pytest.mark.parametrize(
    ("config", "millions"), [(TransformerConfig.base(), 63.05), (TransformerConfig.big(), 214.2)]
)
def test_the_paper_s_models(config: TransformerConfig, millions: float) -> None:
    """65 M and 213 M in Table 3, whose vocabulary is rounded."""
    assert sum(parameters_by_formula(config).values()) / 1e6 == pytest.approx(millions, abs=0.05)


def test_each_stack_s_attention_is_counted_as_its_own() -> None:
    model = meta_model(TransformerConfig(**SMALL))
    model.decoder.layers = model.decoder.layers[:1]
    parts = parameters_of_model(model)
    assert parts[ENCODER_ATTENTION] == 3 * 4 * 12**2
    assert parts[DECODER_ATTENTION] == parts[CROSS_ATTENTION] == 4 * 12**2


def test_learned_positions_are_a_table_for_each_stack() -> None:
    learned = TransformerConfig(**SMALL, positions="learned")
    assert parameters_by_formula(learned)[POSITIONS] == 2 * 7 * 12


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
