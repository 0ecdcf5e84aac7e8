"""Scaled dot-product attention and multi-head attention (§3.2).

Searches that nothing watches compute the same by `decoding/fast_step.py`;
`tests/transformer/decoding/test_fast_step.py` holds the two equal.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import TransformerConfig
from transformer.hooks import HookPoint
from transformer.masks import causal_mask


def attention_scores(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    """Compute QKᵀ / √d_k, `[batch, head, query, key]`, with -∞ where the mask is False (§3.2.1).

    `q` is `[batch, head, query, d_k]`, and `k` is `[batch, head, key, d_k]`.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return scores if mask is None else scores.masked_fill(~mask, -math.inf)


def split_heads(x: Tensor, h: int) -> Tensor:
    """Cut `[batch, position, head * width]` into `[batch, head, position, width]`."""
    batch, positions, _ = x.shape
    return x.view(batch, positions, h, -1).transpose(1, 2)


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O (§3.2.2).

    The h projections of one kind are one matrix, head after head; they have biases only where the
    configuration says so.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.h, bias = config.h, config.attention_bias
        self.W_Q = nn.Linear(config.d_model, config.h * config.d_k, bias=bias)
        self.W_K = nn.Linear(config.d_model, config.h * config.d_k, bias=bias)
        self.W_V = nn.Linear(config.d_model, config.h * config.d_v, bias=bias)
        self.W_O = nn.Linear(config.h * config.d_v, config.d_model, bias=bias)
        self.hook_mask = HookPoint()  # broadcasts to [batch, head, query, key], True where seen
        self.hook_q = HookPoint()  # [batch, head, query, d_k]
        self.hook_k = HookPoint()  # [batch, head, key, d_k]
        self.hook_v = HookPoint()  # [batch, head, key, d_v]
        self.hook_attn_scores = HookPoint()  # [batch, head, query, key]
        self.hook_pattern = HookPoint()  # [batch, head, query, key]
        self.hook_z = HookPoint()  # [batch, head, query, d_v]
        self.hook_result = HookPoint()  # [batch, head, query, d_model]

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Attend from each query position to the key positions, where the mask is True.

        `queries` and the result are `[batch, query, d_model]`, `keys`, projected to keys and
        values, `[batch, key, d_model]`; the mask broadcasts to `[batch, head, query, key]`.
        """
        return self.attend(queries, *self.keys_and_values(keys), mask, is_causal)

    def keys_and_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Project to K and V, each `[batch, head, key, d_k or d_v]`."""
        k = self.hook_k(split_heads(self.W_K(x), self.h))
        v = self.hook_v(split_heads(self.W_V(x), self.h))
        return k, v

    def attend(
        self, x: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, is_causal: bool = False
    ) -> Tensor:
        """Attend from x to keys and values that are already projected, as a cache holds them."""
        q = self.hook_q(split_heads(self.W_Q(x), self.h))  # [batch, head, query, d_k]
        needs_weights = self._needs_weights(q)
        # the kernel's own causal mask aligns first query and first key, and takes no other mask
        if is_causal and (needs_weights or mask is not None or q.size(2) != k.size(2)):
            causal = causal_mask(q.size(2), k.size(2), q.device)
            mask = causal if mask is None else mask & causal
            is_causal = False
        if mask is None and self.hook_mask.watched:
            mask = torch.ones(1, 1, q.size(2), k.size(2), dtype=torch.bool, device=q.device)
        if mask is not None:
            # one mask serves all layers, and a hook may edit in place
            mask = self.hook_mask(mask.clone() if self.hook_mask.watched else mask)
        if needs_weights:
            scores = self.hook_attn_scores(attention_scores(q, k, mask))
            # bf16 scores too: rows that sum to 1 in float32, and several times as fast on a CPU
            exact = torch.promote_types(scores.dtype, torch.float32)
            pattern = self.hook_pattern(scores.softmax(-1, dtype=exact))
            z = pattern.to(v.dtype) @ v
        else:
            z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal)
        z = self.hook_z(z)  # [batch, head, query, d_v]
        if not self.hook_result.watched:
            return self.W_O(z.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]
        W_O = self.W_O.weight.view(-1, self.h, z.size(-1))  # [d_model, head, d_v]
        result = torch.einsum("bhqv,mhv->bhqm", z, W_O)
        summed = self.hook_result(result).sum(1)  # [batch, query, d_model]
        bias: Tensor | None = self.W_O.bias
        return summed if bias is None else summed + bias  # type: ignore[no-any-return]

    def _needs_weights(self, q: Tensor) -> bool:
        """Return whether a hook needs the weights, or the fused backward pass is slow: on a CPU."""
        points = (self.hook_mask, self.hook_attn_scores, self.hook_pattern)
        watched = any(point.watched for point in points)
        return watched or (q.device.type == "cpu" and torch.is_grad_enabled())
