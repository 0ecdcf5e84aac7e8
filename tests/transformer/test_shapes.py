"""The shapes that are known before a model is built are those of the model that is built."""

import pytest

from transformer import ConfigError, Transformer, TransformerConfig, shapes

BIASED = {
    "attention_bias": True,
    "output_bias": True,
    "source_vocab_size": 30,
    "d_k": 3,
    "d_v": 5,
}
UNEQUAL = {
    "decoder_N": 2,
    "decoder_d_ff": 5,
    "decoder_h": 4,
    "own_projection": True,
    "positions": "learned",
}
TINY = {"vocab_size": 20, "N": 1, "d_model": 8, "d_ff": 12, "h": 2, "max_length": 6}


@pytest.mark.parametrize(
    "change",
    [{"N": 3}, BIASED, UNEQUAL],
    ids=str,
)
def test_names_and_shapes_are_those_of_the_model(change):
    config = TransformerConfig(**TINY | change)
    expected = {n: tuple(p.shape) for n, p in Transformer(config).named_parameters()}
    assert dict(shapes.parameter_shapes(config)) == expected


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"max_length": 2**16, "d_model": 2**9}, "max_length"),
        ({"vocab_size": 2**20, "d_model": 2**11}, "parameters"),
    ],
)
def test_a_model_for_which_there_is_no_memory_is_refused_before_it_is_built(change, named):
    config = TransformerConfig(**TINY | change)
    with pytest.raises(ConfigError, match=named):
        shapes.refuse_too_large(config)


def test_the_paper_s_models_are_not_too_large():
    for config in (TransformerConfig.base(), TransformerConfig.big(positions="learned")):
        shapes.refuse_too_large(config)
