"""Value zeroing: how a layer's output changes without one key's value (Mohebbi et al. 2023)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer import hooks
from transformer.analysis import teacher_forcing
from transformer.analysis.lenses import decomposition
from transformer.analysis.lenses.names import Lens
from transformer.kinds import Kind, attention_name
from transformer.model import Transformer


def points(model: Transformer, kind: Kind) -> set[str]:
    """Name the hook points that `value_zeroing` reads."""
    layers = range(model.config.stack(kind).N)
    outputs = {_output_point(kind, layer) for layer in layers}
    cross = {name for layer in layers for name in _cross_points(kind, layer)}
    return decomposition.points(model, kind) | outputs | cross


def value_zeroing(model: Transformer, cache: teacher_forcing.Cache, kind: Kind) -> Iterator[Tensor]:
    """Compute 1 − cos(y_i, y_i with v_j = 0 in all heads), the effect of key j on the layer (§3).

    The weights of this attention stay as they are. All that follows in the layer is computed anew:
    norms, the feed-forward network, and after the decoder's self-attention its cross-attention,
    weights included. `[query, key]` of each layer, from 0 to 2.
    """
    stack = model.config.stack(kind)
    for layer in range(stack.N):
        block = decomposition.block_of(model, cache, kind, layer)
        # keys and values of cross-attention, each [1, head, source, d]
        kv = [cache[name] for name in _cross_points(kind, layer)]
        rest = _rest_of_layer(model, kind, layer, kv)
        widest = max([stack.d_ff, *(stack.h * part.size(2) for part in kv)])
        whole = _rest_watched(model, kind, layer)
        output = cache[_output_point(kind, layer)][0]
        yield _changes(block, output, rest, widest, whole)


def _changes(
    block: decomposition.AttentionBlock,
    output: Tensor,
    rest: Callable[[Tensor], Tensor],
    widest: int,
    whole: bool,
) -> Tensor:
    """Compute 1 − cos of the layer's `output`, `[query, d_model]`, with and without a key."""
    y = F.normalize(output, dim=-1)
    queries, keys = block.pattern.shape[1:]
    step = max(1, teacher_forcing.MAX_TENSOR_SIZE // (queries * widest))
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
    model: Transformer, kind: Kind, layer: int, kv: Sequence[Tensor]
) -> Callable[[Tensor], Tensor]:
    """Return the function from the sum of residual and attention to the output of the layer."""
    module: Any = model.get_submodule(attention_name(kind, layer).rpartition(".")[0])
    attention = "cross_attention" if kind == "cross" else "self_attention"

    def rest(added: Tensor) -> Tensor:
        x: Tensor = module.get_submodule(f"{attention}_norm").norm(added)
        if kind == "decoder_self":
            keys, values = (part.expand(len(x), -1, -1, -1) for part in kv)
            x = module.cross_attention_norm(x, module.cross_attention.attend(x, keys, values))
        x = module.feed_forward_norm(x, module.feed_forward(x))
        return x

    return rest


def _rest_watched(model: Transformer, kind: Kind, layer: int) -> bool:
    """Return whether a hook reads or edits the rest of a layer, and so expects all queries."""
    rest = ["feed_forward", "feed_forward_norm"]
    if kind == "decoder_self":
        rest += ["cross_attention", "cross_attention_norm"]
    module = attention_name(kind, layer).rpartition(".")[0]
    points = (point for part in rest for point in model.get_submodule(f"{module}.{part}").modules())
    return any(isinstance(point, hooks.HookPoint) and point.watched for point in points)


def _cross_points(kind: Kind, layer: int) -> list[str]:
    """Name the hook points of keys and values of the cross-attention behind, if one is."""
    if kind != "decoder_self":
        return []
    return [f"{attention_name('cross', layer)}.hook_{at}" for at in "kv"]


def _output_point(kind: Kind, layer: int) -> str:
    return decomposition.residual_point("decoder_self" if kind == "cross" else kind, layer + 1)


VALUE_ZEROING = Lens(
    name="value_zeroing",
    title="value zeroing",
    about="how much a layer's output turns without the value of a token; all heads "
    "(Mohebbi et al. 2023)",
    shares="changes, each with one value at zero",
    formula=r"$1 - \cos(y_i,\, y_i^{\,v_j = 0})$: how much the output $y_i$ of the whole layer "
    r"turns when the value of key $j$ is zero in all heads (Mohebbi et al. 2023, §3)",
    function=value_zeroing,
    measure=teacher_forcing.LayerMeasure(points, value_zeroing),
    has_heads=False,
    at_once=48,
)
