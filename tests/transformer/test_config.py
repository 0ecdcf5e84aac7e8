import dataclasses
import math
import re
from typing import Any

import pytest

from transformer import ConfigError, TransformerConfig
from transformer.config import LATER

SIZES = ("vocab_size", "N", "d_model", "d_ff", "h", "max_length", "d_k", "d_v")
REFUSED: dict[str, list[Any]] = {
    **{name: [0, -1, 2.0, "8", True] for name in SIZES},
    **{name: [-0.1, 1, math.nan, math.inf, "0.1", None, True] for name in ("P_drop", "epsilon_ls")},
    "positions": ["Sinusoidal", "rotary", "", None, 1, []],
    "decoder_h": [3],
    "decoder_N": [0],
    "decoder_d_ff": [1.5],
    "scale_embedding": [None],
}
REFUSED["vocab_size"].append(3)
REFUSED["h"] += [7, None]


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_no_model_has_is_refused_by_its_name(name):
    for value in REFUSED[name]:
        with pytest.raises(ConfigError, match=rf"{name} = {re.escape(repr(value))}"):
            TransformerConfig(**{"vocab_size": 100, name: value})


def test_heads_need_not_divide_the_width_once_both_widths_are_given():
    with pytest.raises(ConfigError, match="d_k and d_v"):
        TransformerConfig(vocab_size=100, d_model=64, h=5, d_k=13)
    with pytest.raises(ConfigError, match="d_k and d_v"):
        TransformerConfig(vocab_size=100, d_model=64, h=5, d_v=13)
    config = TransformerConfig(vocab_size=100, d_model=64, h=5, d_k=7, d_v=9)
    assert (config.d_k, config.d_v) == (7, 9)


def test_an_odd_width_has_no_cosine_for_its_last_sine():
    with pytest.raises(ConfigError, match="even"):
        TransformerConfig(vocab_size=100, d_model=15, h=3)
    assert TransformerConfig(vocab_size=100, d_model=15, h=3, positions="learned").d_k == 5


def test_presets_are_the_rows_of_table_3_and_take_changes():
    base, big = TransformerConfig.base(), TransformerConfig.big(P_drop=0.1)
    assert dataclasses.astuple(base)[:9] == (37_000, 6, 512, 2048, 8, 64, 64, 0.1, 0.1)
    assert dataclasses.astuple(big)[:9] == (37_000, 6, 1024, 4096, 16, 64, 64, 0.1, 0.1)
    assert TransformerConfig.big().P_drop == 0.3
    assert base.positions == "sinusoidal"


def test_a_config_survives_its_dictionary():
    config = TransformerConfig.demo(123, d_k=16, positions="learned", P_drop=0)
    assert TransformerConfig.from_dict(config.to_dict()) == config


def test_a_decoder_of_its_own_sizes_survives_and_nothing_is_written_where_it_has_none():
    plain = TransformerConfig.demo(123)
    assert plain.decoder is plain
    assert not plain.to_dict().keys() & LATER.keys()
    config = TransformerConfig.demo(
        123, decoder_N=2, decoder_h=16, scale_embedding=False, own_projection=True
    )
    assert TransformerConfig.from_dict(config.to_dict()) == config
    sizes = ("N", "d_ff", "h", "d_k", "d_v")
    assert [getattr(config.decoder, name) for name in sizes] == [2, 1024, 16, 16, 16]
    assert [getattr(config.stack("encoder_self"), name) for name in sizes] == [6, 1024, 8, 32, 32]
    assert config.stack("cross") == config.stack("decoder_self") == config.decoder


@pytest.mark.parametrize(
    ("values", "named"), [({"vocab_size": 9, "n_layers": 6}, "n_layers"), ({"N": 6}, "vocab_size")]
)
def test_an_unknown_or_missing_field_is_named(values, named):
    with pytest.raises(ConfigError, match=f"'{named}'"):
        TransformerConfig.from_dict(values)
