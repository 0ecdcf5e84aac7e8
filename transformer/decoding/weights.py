"""The matrices of a model as a search multiplies by them: fused, and laid out for the CPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.attention import MultiHeadAttention
from transformer.config import Activation
from transformer.decoding.hypothesis import BEAM_SIZE
from transformer.layers import ACTIVATIONS, AddAndNorm, DecoderLayer, EncoderLayer, FeedForward
from transformer.model import Transformer

_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
if _ONEDNN:  # looked up once: by name, it costs as much as an addition
    _lay_out = torch.ops.mkldnn._reorder_linear_weight.default
    _multiply = torch.ops.mkldnn._linear_pointwise.default
    _multiply_and_add = torch.ops.mkldnn._linear_pointwise.binary


class Linear:
    """x Wᵀ + b, and an activation of it where one is named.

    With few rows, most of a product's time is spent on reading the matrix. On a CPU, oneDNN reads
    it in the order in which it lies: measured at 4 rows, in half the time of `F.linear`.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None = None, activation: Activation | None = None
    ) -> None:
        self.weight, self.bias, self.activation = weight, bias, activation
        self._packed: Tensor | None = None
        if _ONEDNN and weight.device.type == "cpu" and weight.dtype == torch.float32:
            # any number of rows can be multiplied; the paper's beam has the best layout
            self._packed = _lay_out(weight.detach(), BEAM_SIZE)

    def __call__(self, x: Tensor) -> Tensor:
        """Multiply `[..., in]` to `[..., out]`."""
        if self._packed is None:
            y = F.linear(x, self.weight, self.bias)
            return y if self.activation is None else ACTIVATIONS[self.activation](y)
        # oneDNN knows all of ours by these names; "none" of GELU is that without approximation
        after = self.activation or "none"
        return _multiply(x, self._packed, self.bias, after, [], "none")  # type: ignore[no-any-return]

    def plus(self, x: Tensor, residual: Tensor) -> Tensor:
        """Compute residual + x Wᵀ + b in one operation; of a product without an activation."""
        if self._packed is None:
            return residual + F.linear(x, self.weight, self.bias)
        return _multiply_and_add(x, residual, self._packed, self.bias, "add")  # type: ignore[no-any-return]


class ResidualNorm:
    """LayerNorm(x + Sublayer(x)), where a product ends the sub-layer."""

    def __init__(self, linear: nn.Linear, add_and_norm: AddAndNorm) -> None:
        self.linear = fused(linear)
        norm = add_and_norm.norm
        self.shape, self.eps = norm.normalized_shape, norm.eps
        self.weight, self.bias = norm.weight, norm.bias

    def __call__(self, x: Tensor, inner: Tensor) -> Tensor:
        """Add the product of the inner values to x `[..., d_model]`, and normalise."""
        added = self.linear.plus(inner, x)
        # calling the module would cost as much as the norm itself
        return torch.layer_norm(added, self.shape, self.weight, self.bias, self.eps)


class SelfAttention:
    """Q, K and V are one product."""

    def __init__(self, attention: MultiHeadAttention, norm: AddAndNorm) -> None:
        self.h = attention.h
        W_Q, W_K, W_V = attention.W_Q, attention.W_K, attention.W_V
        self.QKV = fused(W_Q, W_K, W_V)
        self.widths = (W_Q.out_features, W_K.out_features, W_V.out_features)
        self.output_add_norm = ResidualNorm(attention.W_O, norm)


class CrossAttention:
    """K and V are one product."""

    def __init__(self, attention: MultiHeadAttention, norm: AddAndNorm) -> None:
        self.h = attention.h
        self.Q, self.KV = fused(attention.W_Q), fused(attention.W_K, attention.W_V)
        self.widths = (attention.W_K.out_features, attention.W_V.out_features)
        self.output_add_norm = ResidualNorm(attention.W_O, norm)


class FeedForwardAndNorm:
    """LayerNorm(x + FFN(x))."""

    def __init__(self, feed_forward: FeedForward, norm: AddAndNorm) -> None:
        W_1 = feed_forward.W_1
        self.W_1 = Linear(W_1.weight, W_1.bias, feed_forward.activation)
        self.inner_add_norm = ResidualNorm(feed_forward.W_2, norm)

    def __call__(self, x: Tensor) -> Tensor:
        """Apply the network to `[..., d_model]`."""
        return self.inner_add_norm(x, self.W_1(x))


class EncoderLayerWeights:
    """One encoder layer."""

    def __init__(self, layer: EncoderLayer) -> None:
        self.self_attention = SelfAttention(layer.self_attention, layer.self_attention_norm)
        self.feed_forward = FeedForwardAndNorm(layer.feed_forward, layer.feed_forward_norm)


class DecoderLayerWeights:
    """One decoder layer."""

    def __init__(self, layer: DecoderLayer) -> None:
        self.self_attention = SelfAttention(layer.self_attention, layer.self_attention_norm)
        self.cross_attention = CrossAttention(layer.cross_attention, layer.cross_attention_norm)
        self.feed_forward = FeedForwardAndNorm(layer.feed_forward, layer.feed_forward_norm)


class SearchWeights:
    """All layers, and the projection to the vocabulary."""

    def __init__(self, model: Transformer) -> None:
        self.encoder = [EncoderLayerWeights(layer) for layer in model.encoder.layers]  # type: ignore[arg-type]
        self.decoder = [DecoderLayerWeights(layer) for layer in model.decoder.layers]  # type: ignore[arg-type]
        self.projection = Linear(model.shared_embedding, model.output_bias)


_Slots: TypeAlias = Sequence[tuple[dict[str, nn.Parameter | None], str]]


@dataclass(frozen=True)
class _LaidOut:
    slots: _Slots  # where modules hold parameters: to walk over all takes as long as two layers
    parameters: tuple[nn.Parameter, ...]  # held: no new one can lie where one of these lies
    state: tuple[int, ...]
    weights: SearchWeights


_laid_out: WeakKeyDictionary[Transformer, _LaidOut] = WeakKeyDictionary()


def search_weights(model: Transformer) -> SearchWeights:
    """Return the model's current weights, laid out anew only after one of them has changed.

    A change is seen by the parameter's place in memory and by PyTorch's count of in-place changes.
    That misses fused optimisers, for which the model counts how often it was trained, what goes
    through `parameter.data` in the same place, and a module that another one has taken the place
    of.
    """
    known = _laid_out.get(model)
    slots = _slots(model) if known is None else known.slots
    parameters = _parameters(slots)
    state = _state(model, parameters)
    if known is None or known.state != state:
        known = _LaidOut(slots, parameters, state, SearchWeights(model))
        _laid_out[model] = known
    return known.weights


def _slots(model: Transformer) -> _Slots:
    return [(m._parameters, name) for m in model.modules() for name in m._parameters]


def _parameters(slots: _Slots) -> tuple[nn.Parameter, ...]:
    parameters = [held.get(name) for held, name in slots]
    return tuple(parameter for parameter in parameters if parameter is not None)


def _state(model: Transformer, parameters: Iterable[nn.Parameter]) -> tuple[int, ...]:
    versions = chain.from_iterable(
        (parameter.data_ptr(), parameter._version) for parameter in parameters
    )
    return (model.times_trained, *versions)


def fused(*modules: nn.Linear) -> Linear:
    """Join several projections of the same input."""
    if len(modules) == 1:
        return Linear(modules[0].weight, modules[0].bias)
    possible: list[Tensor | None] = [module.bias for module in modules]
    biases = [bias for bias in possible if bias is not None]
    weight = torch.cat([module.weight for module in modules])
    return Linear(weight, torch.cat(biases) if biases else None)
