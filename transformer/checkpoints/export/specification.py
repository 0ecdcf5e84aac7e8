"""A Transformer as CTranslate2 describes one: its own names, fused projections, explicit positions.

CTranslate2 has one width for the queries, keys and values of a head. Where d_k and d_v differ, the
narrower ones are filled up with zeros, which changes no product; the scale stays 1 / √d_k.
"""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.config import Activation
from transformer.errors import ConfigError
from transformer.layers import AddAndNorm, FeedForward
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

REQUIREMENT = "ctranslate2>=4.6,<5"

_ACTIVATIONS: dict[Activation, str] = {"relu": "RELU", "swish": "SWISH", "gelu": "GELU"}


def engine() -> ModuleType:
    """Import the package ctranslate2, which is an extra.

    Raises:
        ConfigError: if it is not installed; it says how it would be.
    """
    try:
        return importlib.import_module("ctranslate2")
    except ImportError as error:
        raise ConfigError(
            f"CTranslate2 is not installed: run pip install '{REQUIREMENT}'."
        ) from error


def vocabulary(tokenizer: Tokenizer) -> list[str]:
    """Every piece by its id, as the engine reads and writes it."""
    return [piece.text for piece in tokenizer.pieces_of(range(tokenizer.vocab_size))]


def specification(model: Transformer, tokenizer: Tokenizer) -> Any:
    """Build a `ctranslate2.specs.TransformerSpec` with the weights, post-norm as in §3.1."""
    engine()  # the sentence, where it is missing
    from ctranslate2.specs import common_spec, transformer_spec

    config = model.config
    width = max(config.d_k, config.d_v)
    head_dim = None if width * config.h == config.d_model else width
    activation = common_spec.Activation[_ACTIVATIONS[config.activation]]
    shape: dict[str, Any] = {"pre_norm": False, "activation": activation, "head_dim": head_dim}
    encoder = transformer_spec.TransformerEncoderSpec(config.N, config.h, **shape)
    decoder = transformer_spec.TransformerDecoderSpec(config.N, config.h, **shape)
    spec = transformer_spec.TransformerSpec(encoder, decoder)
    spec.config.layer_norm_epsilon = _epsilon(model)

    table = _array(model.shared_embedding)
    encoder.embeddings[0].weight = decoder.embeddings.weight = decoder.projection.weight = table
    if model.output_bias is not None:
        decoder.projection.bias = _array(model.output_bias)
    encoder.position_encodings.encodings = _array(model.encoder.embedding.positions)
    decoder.position_encodings.encodings = _array(model.decoder.embedding.positions)
    layers: Any = (model.encoder.layers, model.decoder.layers)
    for to, layer in zip(encoder.layer, layers[0], strict=True):
        _self_attention(to.self_attention, layer.self_attention, layer.self_attention_norm)
        _feed_forward(to.ffn, layer.feed_forward, layer.feed_forward_norm)
    for to, layer in zip(decoder.layer, layers[1], strict=True):
        _self_attention(to.self_attention, layer.self_attention, layer.self_attention_norm)
        _cross_attention(to.attention, layer.cross_attention, layer.cross_attention_norm)
        _feed_forward(to.ffn, layer.feed_forward, layer.feed_forward_norm)

    pieces = vocabulary(tokenizer)
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    return spec


class _Projection(NamedTuple):
    weight: np.ndarray
    bias: np.ndarray | None


def _self_attention(to: Any, attention: MultiHeadAttention, norm: AddAndNorm) -> None:
    q, k, v, output, d_k = _projections(attention)
    _fuse(to.linear[0], q, k, v)
    _fuse(to.linear[1], output)
    to.queries_scale = np.float32(1 / math.sqrt(d_k))
    _norm(to.layer_norm, norm)


def _cross_attention(to: Any, attention: MultiHeadAttention, norm: AddAndNorm) -> None:
    q, k, v, output, d_k = _projections(attention)
    _fuse(to.linear[0], q)
    _fuse(to.linear[1], k, v)
    _fuse(to.linear[2], output)
    to.queries_scale = np.float32(1 / math.sqrt(d_k))
    _norm(to.layer_norm, norm)


def _fuse(to: Any, *projections: _Projection) -> None:
    to.weight = np.concatenate([part.weight for part in projections])
    if biases := [part.bias for part in projections if part.bias is not None]:
        to.bias = np.concatenate(biases)


def _projections(
    attention: MultiHeadAttention,
) -> tuple[_Projection, _Projection, _Projection, _Projection, int]:
    """W_Q, W_K and W_V as `[h * width, d_model]`, W_O as `[d_model, h * width]`, and d_k."""
    h = attention.h
    linears = (attention.W_Q, attention.W_K, attention.W_V)
    d_k = attention.W_Q.out_features // h
    width = max(linear.out_features // h for linear in linears)
    q, k, v = (
        _Projection(
            _filled_up(_array(linear.weight), h, width),
            None if (bias := _bias(linear)) is None else _filled_up(bias, h, width),
        )
        for linear in linears
    )
    W_O = attention.W_O
    output = _Projection(_filled_up(_array(W_O.weight).T, h, width).T, _bias(W_O))
    return q, k, v, output, d_k


def _bias(linear: nn.Linear) -> np.ndarray | None:
    bias: Tensor | None = linear.bias  # which the stubs of torch always have
    return None if bias is None else _array(bias)


def _filled_up(rows: np.ndarray, h: int, width: int) -> np.ndarray:
    """`[h * narrower, ...]` to `[h * width, ...]`: zeros after the rows of each head."""
    by_head = rows.reshape(h, -1, *rows.shape[1:])
    missing = np.zeros((h, width - by_head.shape[1], *rows.shape[1:]), rows.dtype)
    return np.concatenate((by_head, missing), axis=1).reshape(h * width, *rows.shape[1:])


def _feed_forward(to: Any, feed_forward: FeedForward, norm: AddAndNorm) -> None:
    for linear, ours in ((to.linear_0, feed_forward.W_1), (to.linear_1, feed_forward.W_2)):
        linear.weight, linear.bias = _array(ours.weight), _array(ours.bias)
    _norm(to.layer_norm, norm)


def _norm(to: Any, norm: AddAndNorm) -> None:
    to.gamma, to.beta = _array(norm.norm.weight), _array(norm.norm.bias)


def _epsilon(model: Transformer) -> float:
    return next(module.eps for module in model.modules() if isinstance(module, nn.LayerNorm))


def _array(weight: Tensor) -> np.ndarray:
    # a copy: CTranslate2 scales what it quantizes in place
    return weight.detach().cpu().numpy().copy()
