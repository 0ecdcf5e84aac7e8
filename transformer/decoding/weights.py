"""The matrices of the decoder as a search multiplies by them: fused, and laid out for the CPU."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import Activation
from transformer.layers import ACTIVATIONS, DecoderLayer
from transformer.model import Transformer

_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


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
            self._packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach())

    def __call__(self, x: Tensor) -> Tensor:
        """`[..., in]` to `[..., out]`."""
        if self._packed is None:
            y = F.linear(x, self.weight, self.bias)
            return y if self.activation is None else ACTIVATIONS[self.activation](y)
        # oneDNN knows all of ours by these names; "none" of GELU is that without approximation
        multiply = torch.ops.mkldnn._linear_pointwise
        after = self.activation or "none"
        return multiply(x, self._packed, self.bias, after, [], "none")  # type: ignore[no-any-return]


class LayerNorm:
    """A norm without the cost of calling its module, which is as large as its own."""

    def __init__(self, norm: nn.LayerNorm) -> None:
        self.shape, self.weight, self.bias, self.eps = (
            norm.normalized_shape,
            norm.weight,
            norm.bias,
            norm.eps,
        )

    def __call__(self, x: Tensor) -> Tensor:
        """`[..., d_model]` to the same."""
        return torch.layer_norm(x, self.shape, self.weight, self.bias, self.eps)


class LayerWeights:
    """One decoder layer."""

    def __init__(self, layer: DecoderLayer) -> None:
        own, cross = layer.self_attention, layer.cross_attention
        self.h = own.h
        self.QKV = _fused(own.W_Q, own.W_K, own.W_V)
        self.widths = (own.W_Q.out_features, own.W_K.out_features + own.W_V.out_features)
        self.O, self.cross_Q, self.cross_O = _fused(own.W_O), _fused(cross.W_Q), _fused(cross.W_O)
        W_1, W_2 = layer.feed_forward.W_1, layer.feed_forward.W_2
        self.W_1, self.W_2 = (
            Linear(W_1.weight, W_1.bias, layer.feed_forward.activation),
            _fused(W_2),
        )
        self.norm = LayerNorm(layer.self_attention_norm.norm)
        self.cross_norm = LayerNorm(layer.cross_attention_norm.norm)
        self.feed_forward_norm = LayerNorm(layer.feed_forward_norm.norm)


class DecoderWeights:
    """All decoder layers, and the projection to the vocabulary."""

    def __init__(self, model: Transformer) -> None:
        self.layers = [LayerWeights(layer) for layer in model.decoder.layers]  # type: ignore[arg-type]
        self.projection = Linear(model.shared_embedding, model.output_bias)


_State = tuple[int, tuple[tuple[int, int], ...]]
_laid_out: WeakKeyDictionary[Transformer, tuple[_State, DecoderWeights]] = WeakKeyDictionary()


def decoder_weights(model: Transformer) -> DecoderWeights:
    """The model's weights as they are now, laid out anew only after one of them has changed.

    A change is seen by PyTorch's count of in-place changes. It misses fused optimisers, for which
    the model counts how often it was trained, and what goes through `parameter.data`.
    """
    of_parameters = tuple((each.data_ptr(), each._version) for each in model.decoder.parameters())
    state = (model.times_trained, of_parameters)
    if (known := _laid_out.get(model)) is not None and known[0] == state:
        return known[1]
    weights = DecoderWeights(model)
    _laid_out[model] = (state, weights)
    return weights


def _fused(*modules: nn.Linear) -> Linear:
    """Several projections of the same input as one."""
    if len(modules) == 1:
        return Linear(modules[0].weight, modules[0].bias)
    possible: list[Tensor | None] = [module.bias for module in modules]
    biases = [bias for bias in possible if bias is not None]
    weight = torch.cat([module.weight for module in modules])
    return Linear(weight, torch.cat(biases) if biases else None)
