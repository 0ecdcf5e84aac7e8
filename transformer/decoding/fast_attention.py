"""Attention over keys and values that are projected already, with or without its weights."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.attention import attention_scores
from transformer.masks import causal_mask


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    is_causal: bool = False,
    patterns: list[Tensor] | None = None,
    silenced: Sequence[int] = (),
) -> Tensor:
    """softmax(QKᵀ / √d_k) V (§3.2.1, equation 1), side by side for all heads.

    Args:
        q: `[row, head, query, d_k]`.
        k: `[row, head, key, d_k]`.
        v: `[row, head, key, d_v]`.
        mask: `[row, head, query, key]` or broadcast to it, True where seen.
        is_causal: whether no query sees a later key; then there are as many keys as queries, and no
            mask.
        patterns: a list to which the weights are added, `[row, head, query, key]`; without it they
            are never a tensor.
        silenced: the heads whose output is 0.

    Returns:
        `[row, query, head * d_v]`.
    """
    if patterns is None:
        z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal)
    else:
        seen = causal_mask(q.size(2), k.size(2), q.device) if is_causal else mask
        scores = attention_scores(q, k, seen)
        pattern = scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float32))
        patterns.append(pattern)
        z = pattern.to(v.dtype) @ v
    if silenced:
        z[:, silenced] = 0
    return z.transpose(1, 2).flatten(2)
