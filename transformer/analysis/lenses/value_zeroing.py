"""Value zeroing: how a layer's output changes without one key's value (Mohebbi et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.analysis.lenses.decomposition import AttentionBlock, block_of, residual_point
from transformer.analysis.lenses.decomposition import points as block_points
from transformer.analysis.teacher_forcing import (
    LARGEST_TENSOR,
    Array,
    Cache,
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


def points(model: Transformer, kind: Kind) -> set[str]:
    """Name the hook points that `value_zeroing` reads."""
    layers = range(model.config.N)
    outputs = {_output_point(kind, layer) for layer in layers}
    cross = {f"{attention_name('cross', layer)}.hook_{at}" for layer in layers for at in "kv"}
    return block_points(model, kind) | outputs | cross


@torch.inference_mode()
def value_zeroing(
    model: Transformer,
    trace: AttentionTrace,
    kind: Kind,
    *,
    progress: Progress | None = None,
    cache: Cache | None = None,
) -> Array:
    """Compute 1 − cos(y_i, y_i with v_j = 0 in all heads), the effect of key j on the layer (§3).

    The weights of this attention stay as they are. All that follows in the layer is computed
    anew: norms, the feed-forward network, and after the decoder's self-attention its
    cross-attention, weights included.

    Args:
        model: the model.
        trace: the trace of the sentence and its translation.
        kind: the kind of attention.
        progress: a callback after each layer, with the number done and the number of all.
        cache: the values at `points` in a pass over this trace; without them, a pass is made.

    Returns:
        `[layer, query, key]`, from 0 to 2; 0 above the diagonal of `decoder_self`.

    Raises:
        InputError: if the trace does not fit the model.
    """
    layers = range(model.config.N)
    if cache is None:
        _, cache = values_at(model, forced_pair(model, trace), points(model, kind))
    values = []
    for layer in layers:
        block = block_of(model, cache, kind, layer)
        cross = attention_name("cross", layer)
        k, v = (cache[f"{cross}.hook_{at}"] for at in "kv")  # [1, head, source, d]
        rest = _rest_of_layer(model, kind, layer, k, v)
        widest = max(model.config.d_ff, model.config.h * k.size(2))
        whole = _rest_watched(model, kind, layer)
        output = cache[_output_point(kind, layer)][0]
        values.append(_changes(block, output, rest, widest, whole))
        if progress:
            progress(layer + 1, len(layers))
    return to_array(torch.stack(values))


def _changes(
    block: AttentionBlock,
    output: Tensor,
    rest: Callable[[Tensor], Tensor],
    widest: int,
    whole: bool,
) -> Tensor:
    """Compute 1 − cos of the layer's output with and without a key, `[query, key]`.

    Args:
        block: the attention sub-layer.
        output: `[query, d_model]`, the output of the layer.
        rest: the function from the sum before the norm to the output of the layer, `[batch, query,
            d_model]`.
        widest: the number of values that `rest` needs at once for each query.
        whole: whether `rest` gets all queries of a sentence, not only those that see the key.
    """
    y = F.normalize(output, dim=-1)
    queries, keys = block.pattern.shape[1:]
    step = max(1, LARGEST_TENSOR // (queries * widest))
    changes = torch.zeros_like(block.pattern[0].T)  # [key, query]
    for start in range(0, keys, step):
        chosen = slice(start, start + step)
        seen = block.seen.T[chosen]  # [key, query]
        # one sentence of the batch for each zeroed key: [key, query, d_model]
        without = block.added - block.from_keys(chosen).transpose(0, 1)
        # positions do not meet in the rest of a layer: those that change make one long sentence
        after = rest(without)[seen] if whole else rest(without[seen][None])[0]
        apart = F.normalize(after, dim=-1) - y.expand(len(seen), -1, -1)[seen]
        # for unit vectors 1 − cos = ½ ‖difference‖², which keeps its digits where it is small
        changes[chosen][seen] = apart.square().sum(-1) / 2
    return changes.T


def _rest_of_layer(
    model: Transformer, kind: Kind, layer: int, k: Tensor, v: Tensor
) -> Callable[[Tensor], Tensor]:
    """Return the function from the sum of residual and attention to the output of the layer.

    Args:
        model: the model.
        kind: the kind of attention.
        layer: the layer, from 0.
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
        keys, values = (part.expand(len(x), -1, -1, -1) for part in (k, v))
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


def _rest_watched(model: Transformer, kind: Kind, layer: int) -> bool:
    """Return whether a hook reads or edits the rest of a layer, and so expects all queries."""
    rest = ["feed_forward", "feed_forward_norm"]
    if kind == "decoder_self":
        rest += ["cross_attention", "cross_attention_norm"]
    module = attention_name(kind, layer).rpartition(".")[0]
    points = (point for part in rest for point in model.get_submodule(f"{module}.{part}").modules())
    return any(isinstance(point, HookPoint) and point.watched for point in points)


def _output_point(kind: Kind, layer: int) -> str:
    return residual_point("decoder_self" if kind == "cross" else kind, layer + 1)
