"""A search without the modules: the same formulas in as few operations as possible.

Three things make it fast. The source's keys, values and mask stand once for each sentence: its K
beams are K queries of one row. W_Q, W_K and W_V are one matrix. The decoder's own keys and values
grow in place, and only those rows are copied that another beam has taken over.

It is the second implementation of attention beside `transformer/attention.py`;
`tests/transformer/decoding/test_fast_step.py` holds the two equal.

Nothing can watch it: where a hook is on any point of the model, `PlainDecoder` is used instead. A
hook that only silences heads (`Silence`) is known for what it does, and is done here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer import kinds, masks
from transformer.attention import MultiHeadAttention, split_heads
from transformer.cache import BeamCache
from transformer.config import Activation
from transformer.decoding import hypothesis
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
            self._packed = _lay_out(weight.detach(), hypothesis.BEAM_SIZE)

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
        self.linear = fuse_linears(linear)
        norm = add_and_norm.norm
        self.shape, self.eps = norm.normalized_shape, norm.eps
        self.weight, self.bias = norm.weight, norm.bias

    def __call__(self, x: Tensor, inner: Tensor) -> Tensor:
        """Add the product of the inner values to x `[..., d_model]`, and normalise."""
        added = self.linear.plus(inner, x)
        # calling the module would cost as much as the norm itself
        return torch.layer_norm(added, self.shape, self.weight, self.bias, self.eps)


class SelfAttention:
    """Self-attention whose queries, keys and values are computed by one matrix."""

    def __init__(self, attention: MultiHeadAttention, norm: AddAndNorm) -> None:
        self.h = attention.h
        W_Q, W_K, W_V = attention.W_Q, attention.W_K, attention.W_V
        self.QKV = fuse_linears(W_Q, W_K, W_V)
        self.widths = (W_Q.out_features, W_K.out_features, W_V.out_features)
        self.output_add_norm = ResidualNorm(attention.W_O, norm)


class CrossAttention:
    """Cross-attention whose keys and values are computed by one matrix."""

    def __init__(self, attention: MultiHeadAttention, norm: AddAndNorm) -> None:
        self.h = attention.h
        self.Q, self.KV = fuse_linears(attention.W_Q), fuse_linears(attention.W_K, attention.W_V)
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
    """One encoder layer, or what a decoder layer shares with it."""

    def __init__(self, layer: EncoderLayer | DecoderLayer) -> None:
        self.self_attention = SelfAttention(layer.self_attention, layer.self_attention_norm)
        self.feed_forward = FeedForwardAndNorm(layer.feed_forward, layer.feed_forward_norm)


class DecoderLayerWeights(EncoderLayerWeights):
    """One decoder layer."""

    def __init__(self, layer: DecoderLayer) -> None:
        super().__init__(layer)
        self.cross_attention = CrossAttention(layer.cross_attention, layer.cross_attention_norm)


class SearchWeights:
    """All layers, and the projection to the vocabulary."""

    def __init__(self, model: Transformer) -> None:
        self.encoder = [EncoderLayerWeights(layer) for layer in model.encoder.layers]  # type: ignore[arg-type]
        self.decoder = [DecoderLayerWeights(layer) for layer in model.decoder.layers]  # type: ignore[arg-type]
        self.projection = Linear(model.projection, model.output_bias)


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
    slots: _Slots = (
        [(m._parameters, name) for m in model.modules() for name in m._parameters]
        if known is None
        else known.slots
    )
    parameters = tuple(p for held, name in slots if (p := held.get(name)) is not None)
    versions = chain.from_iterable((p.data_ptr(), p._version) for p in parameters)
    state = (model.times_trained, *versions)
    if known is None or known.state != state:
        known = _LaidOut(slots, parameters, state, SearchWeights(model))
        _laid_out[model] = known
    return known.weights


def fuse_linears(*modules: nn.Linear) -> Linear:
    """Join several projections of the same input."""
    if len(modules) == 1:
        return Linear(modules[0].weight, modules[0].bias)
    possible: list[Tensor | None] = [module.bias for module in modules]
    biases = [bias for bias in possible if bias is not None]
    weight = torch.cat([module.weight for module in modules])
    return Linear(weight, torch.cat(biases) if biases else None)


class FastDecoder:
    """See `PlainDecoder`. The weights are read when it is made: it serves one search."""

    def __init__(self, model: Transformer, source: Tensor, K: int) -> None:
        self.K, self.device = K, source.device
        embedding = model.decoder.embedding
        self.table, self.scale = embedding.table, embedding.scale
        self.positions = embedding.positions  # [position, d_model]
        self.require_positions = embedding.require_positions
        mask = masks.padding_mask(source)
        # a mask that hides nothing only costs time
        self.mask = None if bool(mask.all()) else mask  # [sentence, 1, 1, source]
        weights = search_weights(model)
        silenced = _silenced_heads(model)
        memory: Tensor = model.encoder.embedding(source)
        for layer, silent in zip(weights.encoder, silenced["encoder_self"], strict=True):
            w = layer.self_attention
            # each [sentence, head, source, d_k or d_v]
            q, k, v = (
                split_heads(part, w.h) for part in w.QKV(memory).split_with_sizes(w.widths, dim=-1)
            )
            attended = attend(q, k, v, self.mask, silenced=silent)
            memory = layer.feed_forward(w.output_add_norm(memory, attended))
        self.projection = weights.projection
        self.layers = [
            _Layer(layer, memory, own, cross)
            for layer, own, cross in zip(
                weights.decoder, silenced["decoder_self"], silenced["cross"], strict=True
            )
        ]
        self.cache = BeamCache(model.config, source.size(0), memory)
        self.beams = 1  # rows of a sentence: all K are alike at the start

    @staticmethod
    def serves(model: Transformer) -> bool:
        """Return whether no hook but `Silence` is set, and modules compute only the formulas."""
        autocast = torch.is_autocast_enabled(model.device.type)
        return not (model.silenced() is None or autocast or model.training)

    def start(self, written: Tensor) -> Tensor:
        """See `PlainDecoder.start`."""
        self.require_positions(written.size(1))
        return self._logits(written)

    def step(self, rows: Sequence[int], pieces: Sequence[int]) -> Tensor:
        """See `PlainDecoder.step`."""
        sentences = [row // self.K for row in rows[:: self.K]]
        if sentences != list(range(self.layers[0].k.size(0))):
            for layer in self.layers:
                layer.k, layer.v = layer.k[sentences], layer.v[sentences]
            if self.mask is not None:
                self.mask = self.mask[sentences]
        self.cache.select(rows if self.beams == self.K else [row // self.K for row in rows])
        self.beams = self.K
        return self._logits(torch.tensor(pieces, device=self.device)[:, None])[:, 0]

    def _logits(self, tokens: Tensor) -> Tensor:
        """Compute the logits `[row, position, vocab]` of tokens `[row, position]`."""
        new = tokens.size(1)
        self.cache.make_room(new)
        position = self.positions[self.cache.length : self.cache.length + new]
        x = torch.add(position, F.embedding(tokens, self.table), alpha=self.scale)
        for index, layer in enumerate(self.layers):
            x = layer.decode(x, index, self.cache, self.beams, self.mask)
        self.cache.length += new
        return self.projection(x)


def _silenced_heads(model: Transformer) -> dict[kinds.Kind, list[tuple[int, ...]]]:
    """List the heads that the hooks of this context silence, layer by layer."""
    hooks = model.silenced() or {}
    by_kind: dict[kinds.Kind, list[tuple[int, ...]]] = {}
    for kind in kinds.KINDS:
        stack = model.config.stack(kind)
        names = model.attention_points(kind, "z")
        for name in names:
            for hook in hooks.get(name, ()):
                hook.require_heads(stack.h, name)
        by_kind[kind] = [
            tuple(head for hook in hooks.get(name, ()) for head in hook.heads) for name in names
        ]
    return by_kind


class _Layer:
    """One decoder layer with its keys and values of the source."""

    def __init__(
        self,
        weights: DecoderLayerWeights,
        memory: Tensor,
        own_silenced: Sequence[int],
        cross_silenced: Sequence[int],
    ) -> None:
        self.weights = weights
        self.own_silenced, self.cross_silenced = own_silenced, cross_silenced
        w = weights.cross_attention
        kv = w.KV(memory).split_with_sizes(w.widths, dim=-1)
        # each [sentence, head, source, d_k or d_v]
        self.k, self.v = (split_heads(part, w.h) for part in kv)

    def decode(
        self, x: Tensor, index: int, cache: BeamCache, beams: int, mask: Tensor | None
    ) -> Tensor:
        """Decode `[row, position, d_model]` as `DecoderLayer.forward`, `beams` rows a sentence."""
        rows, new, _ = x.shape

        own = self.weights.self_attention
        d_q, d_k, d_v = own.widths
        q, kv = own.QKV(x).split_with_sizes((d_q, d_k + d_v), dim=-1)
        k, v = cache.append(index, kv)
        q = split_heads(q, own.h)
        z = attend(q, k, v, is_causal=new > 1, silenced=self.own_silenced)
        x = own.output_add_norm(x, z)

        # the beams of a sentence, and their positions, are queries of one row
        cross = self.weights.cross_attention
        q = split_heads(cross.Q(x).view(rows // beams, beams * new, -1), cross.h)
        z = attend(q, self.k, self.v, mask, silenced=self.cross_silenced)
        x = cross.output_add_norm(x, z.view(rows, new, -1))

        return self.weights.feed_forward(x)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    is_causal: bool = False,
    silenced: Sequence[int] = (),
) -> Tensor:
    """Compute softmax(QKᵀ / √d_k) V (§3.2.1, equation 1), side by side for all heads.

    `q`, `k` and `v` are `[row, head, query or key, d_k or d_v]`, the mask, True where seen, `[row,
    head, query, key]` or broadcast to it; with `is_causal` there is none, and there are as many
    keys as queries. The weights are never a tensor. The output, `[row, query, head * d_v]`, is 0
    for `silenced` heads.
    """
    z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal)
    if silenced:
        z[:, silenced] = 0
    return z.transpose(1, 2).flatten(2)
