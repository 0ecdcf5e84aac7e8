"""Names and shapes of a model's parameters from its configuration alone, before it is built."""

import math
from collections.abc import Iterator

from transformer.config import TransformerConfig
from transformer.errors import ConfigError

Shape = tuple[int, ...]

MAX_PARAMETERS = 2**30  # five times those of the paper's big model; in float32 they take 4 GiB

MAX_POSITIONS = 2**24
"""Numbers in a table of positions, max_length × d_model: 16,384 pieces for the big model."""


def parameter_shapes(config: TransformerConfig) -> Iterator[tuple[str, Shape]]:
    """Yield name and shape of each parameter, as `Transformer(config).named_parameters()` does."""
    yield "shared_embedding", (config.vocab_size, config.d_model)
    if config.output_bias:
        yield "output_bias", (config.vocab_size,)
    if config.source_vocab_size is not None:
        yield "source_embedding", (config.source_vocab_size, config.d_model)
    if config.own_projection:
        yield "own_projection", (config.vocab_size, config.d_model)
    for stack, sizes, attentions in (
        ("encoder", config, ("self_attention",)),
        ("decoder", config.decoder, ("self_attention", "cross_attention")),
    ):
        if config.positions == "learned":
            yield f"{stack}.embedding.positions", (config.max_length, config.d_model)
        for layer in range(sizes.N):
            for name, shape in _layer(sizes, attentions):
                yield f"{stack}.layers.{layer}.{name}", shape


def number_of_parameters(config: TransformerConfig) -> int:
    """Count the learned parameters, the shared matrix once."""
    return sum(math.prod(shape) for _, shape in parameter_shapes(config))


def refuse_too_large(config: TransformerConfig) -> None:
    """Refuse a model that would take all memory; to be called before it is built."""
    if (positions := config.max_length * config.d_model) > MAX_POSITIONS:
        raise ConfigError(
            f"max_length = {config.max_length} and d_model = {config.d_model} make a table of "
            f"{positions:,} positions, but at most {MAX_POSITIONS:,} are possible: lower one."
        )
    if (count := number_of_parameters(config)) > MAX_PARAMETERS:
        raise ConfigError(
            f"The configuration makes a model of {count:,} parameters, but at most "
            f"{MAX_PARAMETERS:,} are possible: choose smaller sizes."
        )


def _layer(config: TransformerConfig, attentions: tuple[str, ...]) -> Iterator[tuple[str, Shape]]:
    """Yield the parameters of one layer (§3.1 to §3.3)."""
    d_model, d_ff = config.d_model, config.d_ff
    k, v = config.h * config.d_k, config.h * config.d_v
    matrices = {"W_Q": (k, d_model), "W_K": (k, d_model), "W_V": (v, d_model), "W_O": (d_model, v)}
    for attention in attentions:
        for name, shape in matrices.items():
            yield f"{attention}.{name}.weight", shape
            if config.attention_bias:
                yield f"{attention}.{name}.bias", shape[:1]
        yield from _norm(f"{attention}_norm", d_model)
    yield "feed_forward.W_1.weight", (d_ff, d_model)
    yield "feed_forward.W_1.bias", (d_ff,)
    yield "feed_forward.W_2.weight", (d_model, d_ff)
    yield "feed_forward.W_2.bias", (d_model,)
    yield from _norm("feed_forward_norm", d_model)


def _norm(name: str, d_model: int) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.norm.weight", (d_model,)
    yield f"{name}.norm.bias", (d_model,)
