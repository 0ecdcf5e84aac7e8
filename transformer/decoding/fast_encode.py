"""The encoder without its modules: the same formulas, each matrix laid out for the CPU."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from transformer.decoding.fast_attention import attend, heads
from transformer.decoding.weights import EncoderLayerWeights
from transformer.embedding import Embedding


def encode(
    embedding: Embedding,
    layers: Sequence[EncoderLayerWeights],
    source: Tensor,
    mask: Tensor | None,
    patterns: list[Tensor] | None = None,
    silenced: Sequence[Sequence[int]] | None = None,
) -> Tensor:
    """As `Transformer.encode`, where nothing watches it.

    Args:
        source: `[sentence, source]` token ids.
        mask: `[sentence, 1, 1, source]`, True at real tokens; None where all are.
        patterns: gets the weights of each layer, `[sentence, head, source, source]`.
        silenced: of each layer, heads that give zeros.

    Returns:
        `[sentence, source, d_model]`.
    """
    x: Tensor = embedding(source)
    for layer, silent in zip(layers, silenced or [()] * len(layers), strict=True):
        w = layer.self_attention
        # each [sentence, head, source, d_k or d_v]
        q, k, v = (heads(part, w.h) for part in w.QKV(x).split_with_sizes(w.widths, dim=-1))
        x = w.O(x, attend(q, k, v, mask, patterns=patterns, silenced=silent))
        x = layer.feed_forward(x)
    return x
