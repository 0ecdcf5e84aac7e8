"""Lengths of the vectors that keys are made of, beside the attention that they receive.

In models whose norm stands before a sub-layer, a few tokens have enormous activations, and these
are the attention sinks (Sun et al. 2024, "Massive Activations in Large Language Models"). Here each
sub-layer ends in a norm (§3.1, "post-norm"), so a sink needs no large ‖x‖ (arXiv 2603.05498).
"""

from typing import NamedTuple

import numpy as np
import torch

from transformer import choices
from transformer.analysis.axes import by_pieces, first_counted_row, mean_of_heads
from transformer.analysis.sinks import are_sinks
from transformer.analysis.teacher_forcing import forced_pair, to_array, values_at
from transformer.arrays import AnyFloats, Bools
from transformer.circuits.stream import key_stream, sublayers
from transformer.kinds import Kind
from transformer.model import Transformer
from transformer.trace import AttentionTrace


class KeyNorms(NamedTuple):
    """One kind of attention on a sentence, by layer and key."""

    tokens: tuple[str, ...]  # of the keys
    sinks: Bools  # `[key]`: special tokens, and punctuation alone
    norms: AnyFloats  # `[layer, key]`: ‖x‖ of the stream from which the layer's keys are projected
    received: AnyFloats  # `[layer, key]`: share of the layer's attention, 0 to 1; a layer sums to 1


@choices.check_choices
@torch.inference_mode()
def key_norms(model: Transformer, trace: AttentionTrace, kind: Kind) -> KeyNorms:
    """Measure ‖x‖ of each key in one pass; its attention is the mean over the heads and rows."""
    points = [_stream_point(model, kind, n) for n in range(model.config.stack(kind).N)]
    _, cache = values_at(model, forced_pair(model, trace), {*points})
    norms = torch.stack([cache[point][0].norm(dim=-1) for point in points])
    axes = by_pieces(trace, kind)
    queries, keys = axes.labels
    first = first_counted_row(len(queries), causal=axes.is_causal(kind))
    received = mean_of_heads(axes)[:, first:].mean(1, dtype=np.float64)
    return KeyNorms(tuple(keys), are_sinks(keys, trace.special), to_array(norms), received)


def _stream_point(model: Transformer, kind: Kind, layer: int) -> str:
    """Name the hook point of the stream that the keys of a layer read."""
    stack, end = key_stream(model, kind, layer)
    if end == 0:
        return f"{stack}.embedding.hook_sum"
    return f"{sublayers(model, stack, end)[-1].name}_norm.hook_normalised"
