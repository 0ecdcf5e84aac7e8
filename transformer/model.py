"""The Transformer: encoder stack, decoder stack, and the projection to the vocabulary (§3)."""

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from transformer import embedding, errors, hooks, masks
from transformer.cache import Cache
from transformer.config import TransformerConfig
from transformer.kinds import Kind, attention_name
from transformer.layers import DecoderLayer, EncoderLayer


class Encoder(nn.Module):
    """N encoder layers on the embedded source; no norm after the last one (§3.1)."""

    def __init__(self, config: TransformerConfig, table: nn.Parameter) -> None:
        super().__init__()
        self.embedding = embedding.Embedding(config, table)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.N))

    def forward(self, source: Tensor, mask: Tensor) -> Tensor:
        """Encode token ids, `[batch, source]`, to `[batch, source, d_model]`."""
        x = self.embedding(source)
        for layer in self.layers:
            x = layer(x, mask)
        return x  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """N decoder layers on the embedded target, shifted right by one (§3.1)."""

    def __init__(self, config: TransformerConfig, table: nn.Parameter) -> None:
        super().__init__()
        self.embedding = embedding.Embedding(config, table)
        self.layers = nn.ModuleList(DecoderLayer(config.decoder) for _ in range(config.decoder.N))

    def forward(
        self, target: Tensor, memory: Tensor, memory_mask: Tensor, cache: Cache | None = None
    ) -> Tensor:
        """Decode token ids, `[batch, target]`, to `[batch, target, d_model]`."""
        x = self.embedding(target, start=cache.length if cache else 0)
        for index, layer in enumerate(self.layers):
            x = layer(x, memory, memory_mask, cache.layers[index] if cache else None)
        if cache is not None:
            cache.length += target.size(1)
        return x  # type: ignore[no-any-return]


class _NoRandomNumbers(TorchFunctionMode):
    """Leaves tensors as they are that PyTorch would fill with random numbers; in this thread."""

    _FILLS = frozenset({"kaiming_uniform_", "xavier_uniform_", "uniform_", "normal_"})

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in self._FILLS:
            return args[0] if args else None
        return func(*args, **(kwargs or {}))


class Transformer(hooks.Hooked):
    """The paper's encoder-decoder model (Figure 1).

    One matrix serves both embeddings and the projection before the softmax (§3.4); only where the
    configuration says so has the source an embedding, or the projection a matrix, of its own.

    A search keeps the matrices as it multiplies by them, and lays them out anew once the weights
    have changed: by `load_state_dict`, by an optimiser, by an operation in place. What is
    written through `parameter.data`, or by a fused optimiser in evaluation mode, is not seen: call
    `model.train()` and `model.eval()` then.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.times_trained = 0
        self.shared_embedding = nn.Parameter(torch.empty(config.vocab_size, config.d_model))
        self.output_bias = (
            nn.Parameter(torch.zeros(config.vocab_size)) if config.output_bias else None
        )
        self.source_embedding = (
            nn.Parameter(torch.empty(config.source_vocab_size, config.d_model))
            if config.source_vocab_size is not None
            else None
        )
        self.own_projection = (
            nn.Parameter(torch.empty(config.vocab_size, config.d_model))
            if config.own_projection
            else None
        )
        self.encoder = Encoder(
            config,
            self.shared_embedding if self.source_embedding is None else self.source_embedding,
        )
        self.decoder = Decoder(config, self.shared_embedding)
        self.initialise()
        self.name_hook_points()

    @classmethod
    def unfilled(cls, config: TransformerConfig) -> "Transformer":
        """Make a model for `fill`: drawing random weights takes longer than reading stored ones."""
        with _NoRandomNumbers():
            return cls(config)

    def fill(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """Replace all parameters by these, in float32; a tensor in float32 is not copied."""
        parameters = dict(self.named_parameters())
        for name, weight in weights:
            parameters.pop(name).data = weight.float().contiguous()
        assert not parameters, f"{parameters.keys()} are not filled"

    def initialise(self) -> None:
        """Initialise matrices by Glorot uniform, embeddings by N(0, 1/d_model).

        Times √d_model, an embedding then has RMS 1 beside positions of RMS 1/√2. Learned positions
        stay as `Embedding` made them.
        """
        for table in (self.shared_embedding, self.source_embedding, self.own_projection):
            if table is not None:
                nn.init.normal_(table, std=1 / math.sqrt(self.config.d_model))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def train(self, mode: bool = True) -> "Transformer":
        """Set the mode; count training, since fused optimisers change weights without a trace."""
        self.times_trained += mode
        return super().train(mode)

    def attention_points(self, kind: Kind, value: str) -> list[str]:
        """Name the hook points of a value, such as `z`, in the attention of each layer."""
        layers = range(self.config.stack(kind).N)
        return [f"{attention_name(kind, layer)}.hook_{value}" for layer in layers]

    def require_no_dropout(self) -> None:
        """Raise InputError in training mode, where each pass over an input gives other numbers."""
        if self.training and self.config.P_drop > 0:
            raise errors.InputError(
                "The model is in training mode, where dropout changes what it computes: call "
                "model.eval() first."
            )

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Compute the logits of each next piece, `[batch, target, vocab_size]`.

        `source` and `target`, `[batch, position]`, are token ids, padded on the right; a target
        begins with `<s>`.
        """
        mask = masks.padding_mask(source)
        return self.logits(self.decode(target, self.encode(source, mask), mask))

    def encode(self, source: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """Run the encoder on token ids, `[batch, source]`; return `[batch, source, d_model]`."""
        mask = masks.padding_mask(source) if source_mask is None else source_mask
        return self.encoder(source, mask)  # type: ignore[no-any-return]

    def decode(
        self, target: Tensor, memory: Tensor, memory_mask: Tensor, cache: Cache | None = None
    ) -> Tensor:
        """Run the decoder on token ids, `[batch, target]`; return `[batch, target, d_model]`.

        With a cache, `target` holds the new positions alone.
        """
        return self.decoder(target, memory, memory_mask, cache)  # type: ignore[no-any-return]

    def logits(self, decoded: Tensor) -> Tensor:
        """Project `[..., d_model]` to `[..., vocab_size]` by the shared matrix (§3.4)."""
        return F.linear(decoded, self.projection, self.output_bias)

    @property
    def projection(self) -> nn.Parameter:
        """Matrix before the softmax, `[vocab_size, d_model]`."""
        return self.shared_embedding if self.own_projection is None else self.own_projection

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return self.shared_embedding.device

    def number_of_parameters(self) -> int:
        """Count the learned parameters, the shared matrix once."""
        return sum(parameter.numel() for parameter in self.parameters())
