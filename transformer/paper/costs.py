"""Costs: the parameters of each part of a model, and the work and memory of a layer (Table 1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from transformer.arrays import Floats
from transformer.config import TransformerConfig
from transformer.model import Transformer

T = TypeVar("T")

EMBEDDING = "embedding and projection"
POSITIONS = "learned positions"
ENCODER_ATTENTION = "encoder self-attention"
DECODER_ATTENTION = "decoder self-attention"
CROSS_ATTENTION = "cross-attention"
FEED_FORWARD = "feed-forward networks"
NORMS = "layer norms"

PARTS = (
    EMBEDDING,
    POSITIONS,
    ENCODER_ATTENTION,
    DECODER_ATTENTION,
    CROSS_ATTENTION,
    FEED_FORWARD,
    NORMS,
)
"""Parts of a model in the order of the forward pass."""


def parameters_by_formula(config: TransformerConfig) -> dict[str, int]:
    """Count the parameters of each of `PARTS`, from the configuration alone (§3, Table 3)."""
    d, N, decoder = config.d_model, config.N, config.decoder
    # W^Q and W^K, then W^V and W^O: no bias in the paper (§3.2.2); as wide in both stacks
    attention = 2 * d * config.h * config.d_k + 2 * d * config.h * config.d_v
    if config.attention_bias:
        attention += 2 * config.h * config.d_k + config.h * config.d_v + d
    # one matrix for three uses (§3.4), unless the source or the projection has one of its own
    rows = config.vocab_size * (1 + config.own_projection) + (config.source_vocab_size or 0)
    embedding = rows * d
    if config.output_bias:
        embedding += config.vocab_size
    # equation 2, both biases
    feed_forward = [s.N * (d * s.d_ff + s.d_ff + s.d_ff * d + d) for s in (config, decoder)]
    norm = 2 * d  # gain and bias
    learned = config.positions == "learned"
    return {
        EMBEDDING: embedding,
        POSITIONS: 2 * config.max_length * d if learned else 0,  # a table for each stack
        ENCODER_ATTENTION: N * attention,
        DECODER_ATTENTION: decoder.N * attention,
        CROSS_ATTENTION: decoder.N * attention,
        FEED_FORWARD: sum(feed_forward),
        NORMS: (2 * N + 3 * decoder.N) * norm,  # one after each sub-layer
    }


def parameters_of_model(model: nn.Module) -> dict[str, int]:
    """Count the parameters of each of `PARTS` in an existing model, a shared matrix once."""
    parts = dict.fromkeys(PARTS, 0)
    for name, parameter in model.named_parameters():
        parts[_part(name)] += parameter.numel()
    return parts


def meta_model(config: TransformerConfig) -> Transformer:
    """Build the model of a configuration on torch's meta device: its shapes, without memory."""
    with torch.device("meta"):
        return Transformer.unfilled(config)


def parameters_of_config(config: TransformerConfig) -> dict[str, int]:
    """Count the parameters of each of `PARTS` in the model of a configuration."""
    return parameters_of_model(meta_model(config))


def parameter_shapes(model: nn.Module, name: str) -> Mapping[str, tuple[int, ...]]:
    """List names and shapes in a module, `encoder.layers.0.self_attention`, or of one parameter.

    Raises:
        AttributeError: if the model has neither.
    """
    own = dict(model.named_parameters())
    if name in own:
        return {name: tuple(own[name].shape)}
    module = model.get_submodule(name)
    return {inside: tuple(parameter.shape) for inside, parameter in module.named_parameters()}


def _part(name: str) -> str:
    if "_norm." in name:
        return NORMS
    if "feed_forward." in name:
        return FEED_FORWARD
    if "cross_attention." in name:
        return CROSS_ATTENTION
    if "self_attention." in name:
        return ENCODER_ATTENTION if name.startswith("encoder.") else DECODER_ATTENTION
    return POSITIONS if name.endswith("positions") else EMBEDDING


# Table 1 as numbers


SELF_ATTENTION = "self-attention"
RECURRENT = "recurrent"
CONVOLUTIONAL = "convolutional"
RESTRICTED = "restricted self-attention"
LAYERS = (SELF_ATTENTION, RECURRENT, CONVOLUTIONAL, RESTRICTED)  # the rows of Table 1


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes that a layer's cost depends on, except the length n."""

    d: int  # width of the representation
    k: int  # width of the convolution's kernel
    r: int  # neighbourhood of restricted self-attention
    h: int  # heads; they change the memory, not the work


def work(layer: str, n: npt.ArrayLike, sizes: Sizes) -> Floats:
    """Count the operations of a layer for each n, up to a constant factor (column 1 of Table 1)."""
    n = np.asarray(n, dtype=np.float64)
    d, k, r = float(sizes.d), float(sizes.k), float(sizes.r)
    operations: dict[str, Floats] = {
        SELF_ATTENTION: n**2 * d,
        RECURRENT: n * d**2,
        CONVOLUTIONAL: k * n * d**2,
        # a neighbourhood cannot be larger than the sentence
        RESTRICTED: np.minimum(r, n) * n * d,
    }
    return operations[layer]


def memory(layer: str, n: npt.ArrayLike, sizes: Sizes) -> Floats:
    """Count the values that one layer stores for the backward pass: its input, and the weights.

    Table 1 does not list it; it follows from §3.2: a weight for each head, query and key. Queries,
    keys and values are as large as the input.
    """
    n = np.asarray(n, dtype=np.float64)
    seen: dict[str, Floats] = {SELF_ATTENTION: n, RESTRICTED: np.minimum(float(sizes.r), n)}
    return n * sizes.d + sizes.h * n * seen.get(layer, np.zeros_like(n))


def sequential(layer: str, n: npt.ArrayLike, sizes: Sizes) -> Floats:
    """Count the operations that must follow one another, whatever the sizes (column 2)."""
    del sizes
    n = np.asarray(n, dtype=np.float64)
    return n if layer == RECURRENT else np.ones_like(n)


def multiplications(layer: str, n: npt.ArrayLike, sizes: Sizes) -> Floats:
    """Count all multiplications of a layer, with the factors that Table 1 leaves out.

    Attention also has the four projections of §3.2.2, and the recurrent layer is an LSTM: two
    d × d matrices for each of its four gates.
    """
    n = np.asarray(n, dtype=np.float64)
    if layer in (SELF_ATTENTION, RESTRICTED):  # the scores, and the sum of the values
        return 4 * n * sizes.d**2 + 2 * work(layer, n, sizes)
    return work(layer, n, sizes) * (8 if layer == RECURRENT else 1)


def by_layer(
    function: Callable[..., T], *values: Any, layers: Sequence[str] = LAYERS
) -> dict[str, T]:
    """Return `function(layer, *values)` of each layer."""
    return {layer: function(layer, *values) for layer in layers}


def crossings(sizes: Sizes) -> dict[str, float]:
    """Compute the length above which another layer does less work than self-attention (§4)."""
    return {
        RECURRENT: float(sizes.d),
        CONVOLUTIONAL: float(sizes.k * sizes.d),
        RESTRICTED: float(sizes.r),
    }
