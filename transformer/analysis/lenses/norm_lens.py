"""Norm-based analysis: how long the vector is that a key brings (Kobayashi et al. 2020, 2021)."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from transformer.analysis.lenses.decomposition import AttentionBlock, of_each_block
from transformer.analysis.teacher_forcing import Array, Cache, Progress
from transformer.kinds import Kind
from transformer.model import Transformer
from transformer.trace import AttentionTrace


def head_norms(
    model: Transformer,
    trace: AttentionTrace,
    kind: Kind,
    *,
    layer_norm: bool = False,
    progress: Progress | None = None,
    cache: Cache | None = None,
) -> Array:
    """‖α_ij f(x_j)‖₂ of each head, f as in `decomposition`, in units of the residual stream (2020).

    Args:
        layer_norm: take the norm after the linearised LayerNorm (2021).
        cache: what a pass over this trace gave at `decomposition.points`.

    Returns:
        `[layer, head, query, key]`.

    Raises:
        InputError: if the trace does not fit the model.
    """
    of_block = _heads_normalised if layer_norm else _heads
    return of_each_block(of_block, model, trace, kind, progress, cache)


def layer_norms(
    model: Transformer,
    trace: AttentionTrace,
    kind: Kind,
    *,
    residual_and_norm: bool = False,
    progress: Progress | None = None,
    cache: Cache | None = None,
) -> Array:
    """‖Σ_h α_ij f(x_j)‖₂ of the whole layer: heads may cancel each other (2020).

    Args:
        residual_and_norm: add x_i to what the query brings to itself, and take the norm after the
            linearised LayerNorm (2021). In cross-attention, where no key is the
            query, x_i is one more column, the last.
        cache: what a pass over this trace gave at `decomposition.points`.

    Returns:
        `[layer, query, key]`.

    Raises:
        InputError: if the trace does not fit the model.
    """
    of_block = _layer_normalised if residual_and_norm else _layer
    return of_each_block(of_block, model, trace, kind, progress, cache)


def _heads(block: AttentionBlock) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(block.values, dim=-1)  # [head, key]
    return block.pattern * lengths[:, None]


def _heads_normalised(block: AttentionBlock) -> Tensor:
    # deviation is the query's alone: nothing of [query, key, d_model] is needed
    centred = block.values - block.values.mean(-1, keepdim=True)
    lengths: Tensor = torch.linalg.vector_norm(centred * block.gain, dim=-1)  # [head, key]
    return block.pattern * lengths[:, None] / block.deviation


def _layer(block: AttentionBlock) -> Tensor:
    return _lengths(block.from_keys(keys) for keys in block.chunks())


def _layer_normalised(block: AttentionBlock) -> Tensor:
    return _lengths(block.transformed())


def _lengths(parts: Iterable[Tensor]) -> Tensor:
    """`[query, key]` from `[query, key, d_model]` in chunks of the keys."""
    return torch.cat([torch.linalg.vector_norm(part, dim=-1) for part in parts], -1)
