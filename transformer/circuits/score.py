"""Why a head looks there: one attention score as a sum over what query and key are made of.

The score is q·k / √d_k, q = x W_Q + b_Q and k = y W_K + b_K (§3.2.1). Streams x and y are sums over
writers (`stream`), so the score is a sum over pairs of them, exactly. What is equal for all keys
changes no weight, however large it is: a head looks at a key and not elsewhere for what its score
has beyond that of another key, or beyond the mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.stream import (
    BIASES,
    Stream,
    Writer,
    key_stream,
    query_stream,
    stream_of,
    stream_points,
)
from transformer.analysis.teacher_forcing import forced_pair, to_array, values_at
from transformer.arrays import AnyFloats
from transformer.attention import MultiHeadAttention
from transformer.choices import require_number
from transformer.kinds import attention_name
from transformer.model import Transformer
from transformer.trace import AttentionTrace


@dataclass(frozen=True, eq=False)
class SplitScores:
    """Scores of one query and some keys, by the writers of both."""

    query_writers: tuple[Writer, ...]
    key_writers: tuple[Writer, ...]
    values: AnyFloats  # `[key, query writer, key writer]`, which sum to `scores`
    scores: AnyFloats  # `[key]`, before the softmax

    def difference(self) -> AnyFloats:
        """`[query writer, key writer]`: why the first key and not the second, or the mean."""
        apart: AnyFloats = self.values[0] - self.values[1]
        return apart

    def largest(self, values: AnyFloats, count: int) -> list[tuple[Writer, Writer, float]]:
        """List the pairs of writers with the largest absolute values, and these values."""
        order = np.argsort(-np.abs(values), axis=None, kind="stable")[:count]
        places = zip(*np.unravel_index(order, values.shape), strict=True)
        return [
            (self.query_writers[a], self.key_writers[b], float(values[a, b])) for a, b in places
        ]


@torch.inference_mode()
def split_scores(
    model: Transformer,
    trace: AttentionTrace,
    head: Head,
    query: int,
    keys: Sequence[int],
    *,
    mean_over: Sequence[int] = (),
) -> SplitScores:
    """Take the scores of a head apart, for one query and some keys, each by its position.

    One more key comes last if `mean_over` has any: their mean.
    """
    require_heads(model, [head])
    kind, layer, number = head
    readers = (query_stream(kind, layer), key_stream(model, kind, layer))
    name = attention_name(kind, layer)
    points = {f"{name}.hook_q", f"{name}.hook_k"}
    for stack, end in readers:
        points |= stream_points(model, stack, end)
    pair = forced_pair(model, trace)
    _, cache = values_at(model, pair, points)
    read = [*keys, *mean_over]
    require_number("query", query, cache[f"{name}.hook_q"].size(2))
    for key in read:
        require_number("key", key, cache[f"{name}.hook_k"].size(2))
    W_Q, W_K = (head_projection(model, f"{name}.{matrix}", number) for matrix in ("W_Q", "W_K"))
    first, second = (
        stream_of(model, cache, stack, end, positions)
        for (stack, end), positions in zip(readers, ([query], read), strict=True)
    )
    q, k = _projected(first, *W_Q), _projected(second, *W_K)
    whole = cache[f"{name}.hook_k"][0, number, read]
    k, whole = (_with_mean(vectors, len(keys)) for vectors in (k, whole))
    scale = q.size(-1) ** -0.5
    values = torch.einsum("apd,bkd->kab", q, k) * scale
    scores = whole @ cache[f"{name}.hook_q"][0, number, query] * scale
    return SplitScores(first.writers, second.writers, to_array(values), to_array(scores))


def _with_mean(vectors: Tensor, count: int) -> Tensor:
    """Keep the first vectors, `[..., position, width]`, and append the mean of the others."""
    first, others = vectors.tensor_split([count], -2)
    return torch.cat((first, others.mean(-2, keepdim=True)), -2) if others.size(-2) else first


def head_projection(model: Transformer, name: str, head: int) -> tuple[Tensor, Tensor | None]:
    """Return the rows of a projection that are a head's, `[d_k, d_model]`, and their bias."""
    module, attention = model.get_submodule(name), model.get_submodule(name.rpartition(".")[0])
    assert isinstance(module, nn.Linear)
    assert isinstance(attention, MultiHeadAttention)
    width = module.out_features // attention.h
    rows = slice(head * width, (head + 1) * width)
    bias: Tensor | None = module.bias
    return module.weight[rows], None if bias is None else bias[rows]


def _projected(stream: Stream, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Project every part of a stream, `[writer, position, d_k]`; a bias is one of the biases."""
    projected = stream.parts @ weight.T
    if bias is not None:
        projected[BIASES] += bias
    return projected
