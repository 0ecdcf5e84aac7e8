"""Norm-based analysis: how long the vector is that a key brings (Kobayashi et al. 2020, 2021).

Each function is of one layer; `stack_blocks` stacks all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from transformer.analysis.lenses.decomposition import AttentionBlock


def norms_of_heads(block: AttentionBlock) -> Tensor:
    """Compute ‖α_ij f(x_j)‖₂ of each head, f as in `decomposition` (2020).

    Returns:
        `[head, query, key]`.
    """
    lengths: Tensor = torch.linalg.vector_norm(block.values, dim=-1)  # [head, key]
    return block.pattern * lengths[:, None]


def norms_of_heads_after_layer_norm(block: AttentionBlock) -> Tensor:
    """Compute the norms of `norms_of_heads` after the linearised LayerNorm (2021).

    Returns:
        `[head, query, key]`.
    """
    # deviation is the query's alone: nothing of [query, key, d_model] is needed
    centred = block.values - block.values.mean(-1, keepdim=True)
    lengths: Tensor = torch.linalg.vector_norm(centred * block.gain, dim=-1)  # [head, key]
    return block.pattern * lengths[:, None] / block.deviation


def norms_of_layer(block: AttentionBlock) -> Tensor:
    """Compute ‖Σ_h α_ij f(x_j)‖₂ of the whole layer: heads may cancel each other (2020).

    Returns:
        `[query, key]`.
    """
    return _lengths(block.from_keys(keys) for keys in block.chunks())


def norms_of_layer_with_residual(block: AttentionBlock) -> Tensor:
    """Compute the norms of `norms_of_layer` after the linearised LayerNorm, x_i included (2021).

    Returns:
        `[query, key]`; in cross-attention, where no key is the query, x_i is one more column, the
        last.
    """
    return _lengths(block.transformed())


def _lengths(parts: Iterable[Tensor]) -> Tensor:
    """Compute norms `[query, key]` from `[query, key, d_model]` in chunks of the keys."""
    return torch.cat([torch.linalg.vector_norm(part, dim=-1) for part in parts], -1)
