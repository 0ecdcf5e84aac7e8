"""Feed-forward network, residual connection, encoder layer and decoder layer (§3.1, §3.3)."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer import attention, dropout, hooks
from transformer.cache import LayerCache
from transformer.config import Activation, TransformerConfig

ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "swish": F.silu,
    "gelu": F.gelu,
}


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2 (§3.3, equation 2); other activations by name."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.W_1 = nn.Linear(config.d_model, config.d_ff)
        self.W_2 = nn.Linear(config.d_ff, config.d_model)
        self.activation = config.activation
        self.hook_hidden = hooks.HookPoint()  # [batch, position, d_ff]

    def forward(self, x: Tensor) -> Tensor:
        """Apply the network to each position separately, `[batch, position, d_model]`."""
        return self.W_2(self.hook_hidden(ACTIVATIONS[self.activation](self.W_1(x))))  # type: ignore[no-any-return]


class AddAndNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))): post-norm, as the paper has it (§3.1, §5.4)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.dropout = dropout.Dropout(config.P_drop)
        self.norm = nn.LayerNorm(config.d_model)
        self.hook_sublayer = hooks.HookPoint()  # each [batch, position, d_model]
        self.hook_sum = hooks.HookPoint()
        self.hook_normalised = hooks.HookPoint()

    def forward(self, x: Tensor, sublayer_of_x: Tensor) -> Tensor:
        """Add the sub-layer's output to x, and normalise: `[batch, position, d_model]`."""
        added = self.hook_sum(x + self.dropout(self.hook_sublayer(sublayer_of_x)))
        # autocast on a GPU gives float32, and three products would each cast it back
        return self.hook_normalised(self.norm(added).to(added.dtype))  # type: ignore[no-any-return]


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network (§3.1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = attention.MultiHeadAttention(config)
        self.self_attention_norm = AddAndNorm(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = AddAndNorm(config)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Apply the layer to `[batch, source, d_model]`; `mask` as in `masks.padding_mask`."""
        x = self.self_attention_norm(x, self.self_attention(x, x, mask))
        return self.feed_forward_norm(x, self.feed_forward(x))  # type: ignore[no-any-return]


class DecoderLayer(nn.Module):
    """Causal self-attention, attention over the encoder's output, feed-forward network (§3.1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = attention.MultiHeadAttention(config)
        self.self_attention_norm = AddAndNorm(config)
        self.cross_attention = attention.MultiHeadAttention(config)
        self.cross_attention_norm = AddAndNorm(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = AddAndNorm(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        memory_mask: Tensor | None = None,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """Decode positions that may see themselves, earlier positions, and the source.

        `x` is `[batch, target, d_model]`, with a cache, which is extended, only the new positions;
        `memory`, the encoder's output, `[batch, source, d_model]`, and `memory_mask`, True at real
        tokens, `[batch, 1, 1, source]`.
        """
        k, v = self.self_attention.keys_and_values(x)
        if cache is not None:
            k, v = cache.extend_self(k, v)
        # one new position may see all keys: no mask, and the kernel's fastest path. A branch, since
        # torch.compile takes the comparison itself for a symbol, which the kernel refuses
        is_causal = False
        if x.size(1) > 1:
            is_causal = True
        attended = self.self_attention.attend(x, k, v, is_causal=is_causal)
        x = self.self_attention_norm(x, attended)

        if cache is None:
            k, v = self.cross_attention.keys_and_values(memory)
        else:
            k, v = cache.cross(self.cross_attention, memory)
        x = self.cross_attention_norm(x, self.cross_attention.attend(x, k, v, memory_mask))

        return self.feed_forward_norm(x, self.feed_forward(x))  # type: ignore[no-any-return]
