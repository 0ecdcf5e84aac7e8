"""Value zeroing: how a layer's output changes without one key's value (Mohebbi et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.analysis.lenses.decomposition import AttentionBlock, block_of, block_points
from transformer.analysis.teacher_forcing import (
    LARGEST_TENSOR,
    Array,
    Progress,
    forced_pair,
    to_array,
    values_at,
)
from transformer.hooks import HookPoint
from transformer.kinds import Kind, attention_name
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.model import Transformer
from transformer.trace import AttentionTrace


@torch.inference_mode()
def value_zeroing(
    model: Transformer, trace: AttentionTrace, kind: Kind, *, progress: Progress | None = None
) -> Array:
    """1 − cos(y_i, y_i with v_j = 0 in all heads): the effect of key j on the whole layer (§3).

    The weights of this attention stay as they are. All that follows in the layer is computed
    anew: norms, the feed-forward network, and after the decoder's self-attention its
    cross-attention, weights included.

    Returns:
        `[layer, query, key]`, from 0 to 2; 0 above the diagonal of `decoder_self`.

    Raises:
        InputError: if the trace does not fit the model.
    """
    layers = range(model.config.N)
    names = {name for layer in layers for name in block_points(kind, layer).values()}
    outputs = [_output_point(kind, layer) for layer in layers]
    cross = [attention_name("cross", layer) for layer in layers]
    names |= {*outputs, *(f"{name}.hook_{point}" for name in cross for point in "kv")}
    _, cache = values_at(model, forced_pair(model, trace), names)
    found = []
    for layer in layers:
        block = block_of(model, cache, kind, layer)
        k, v = (cache[f"{cross[layer]}.hook_{point}"] for point in "kv")  # [1, head, source, d]
        rest = _rest_of_layer(model, kind, layer, k, v)
        widest = max(model.config.d_ff, model.config.h * k.size(2))
        causal = kind == "decoder_self" and not _watched(model, cross[layer])
        found.append(_changes(block, cache[outputs[layer]][0], rest, widest, causal))
        if progress:
            progress(layer + 1, len(layers))
    return to_array(torch.stack(found))


def _changes(
    block: AttentionBlock,
    output: Tensor,
    rest: Callable[[Tensor], Tensor],
    widest: int,
    causal: bool,
) -> Tensor:
    """`[query, key]`: 1 − cos of the layer's output, `[query, d_model]`, with and without a key.

    Args:
        rest: the sum before the norm to the output of the layer.
        widest: numbers that `rest` needs at once for each query.
        causal: no query before a key can change, and none is computed.
    """
    y = F.normalize(output, dim=-1)
    queries, keys = block.pattern.shape[1:]
    step = max(1, LARGEST_TENSOR // (queries * widest))
    changes = torch.zeros_like(block.pattern[0])
    for start in range(0, keys, step):
        chosen, first = slice(start, start + step), start if causal else 0
        # one sentence of the batch for each zeroed key: [key, query, d_model]
        without = block.added[first:] - block.from_keys(chosen, first).transpose(0, 1)
        zeroed = F.normalize(rest(without), dim=-1)
        # of unit vectors, 1 − cos = ½ ‖difference‖², which keeps its digits where it is small
        changes[first:, chosen] = (zeroed - y[first:]).square().sum(-1).T / 2
    return changes * block.seen


def _rest_of_layer(
    model: Transformer, kind: Kind, layer: int, k: Tensor, v: Tensor
) -> Callable[[Tensor], Tensor]:
    """What follows the sum of residual and attention, up to the output of the layer.

    Args:
        k: `[1, head, source, d_k]`, the keys of the layer's cross-attention.
        v: `[1, head, source, d_v]`, its values.
    """
    module = model.get_submodule(attention_name(kind, layer).rpartition(".")[0])
    assert isinstance(module, EncoderLayer | DecoderLayer)

    def feed_forward(x: Tensor) -> Tensor:
        return module.feed_forward_norm(x, module.feed_forward(x))  # type: ignore[no-any-return]

    def after_self_attention(added: Tensor) -> Tensor:
        return feed_forward(module.self_attention_norm.norm(added))

    def after_decoder_self_attention(added: Tensor) -> Tensor:
        assert isinstance(module, DecoderLayer)
        x = module.self_attention_norm.norm(added)
        keys, values = (kept.expand(len(x), -1, -1, -1) for kept in (k, v))
        attended = module.cross_attention.attend(x, keys, values)
        return feed_forward(module.cross_attention_norm(x, attended))

    def after_cross_attention(added: Tensor) -> Tensor:
        assert isinstance(module, DecoderLayer)
        return feed_forward(module.cross_attention_norm.norm(added))

    return {
        "encoder_self": after_self_attention,
        "decoder_self": after_decoder_self_attention,
        "cross": after_cross_attention,
    }[kind]


def _watched(model: Transformer, module: str) -> bool:
    """Whether somebody reads or edits here, and so expects all queries."""
    points = model.get_submodule(module).children()
    return any(isinstance(point, HookPoint) and point.watched for point in points)


def _output_point(kind: Kind, layer: int) -> str:
    stack = "encoder" if kind == "encoder_self" else "decoder"
    return f"{stack}.layers.{layer}.feed_forward_norm.hook_normalised"
