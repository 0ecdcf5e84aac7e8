"""The peer: a plain training loop over `torch.nn.Transformer`, as its tutorials write it.

Its dropout also falls on the attention weights and inside the feed-forward networks, where the
paper has none (§5.4), and nothing of it is compiled.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from training.data.batches import Batch
from transformer.config import PAD, TransformerConfig
from transformer.embedding import sinusoidal_positions


class PlainTransformer(nn.Module):
    """`torch.nn.Transformer` with embeddings, positions and a shared projection around it."""

    positions: Tensor

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.transformer = nn.Transformer(
            config.d_model, config.h, config.N, config.N, config.d_ff, config.P_drop,
            batch_first=True,
        )  # fmt: skip
        self.embedding = nn.Embedding(config.vocab_size, config.d_model, padding_idx=PAD)
        self.projection = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.projection.weight = self.embedding.weight
        self.dropout = nn.Dropout(config.P_drop)
        self.scale = math.sqrt(config.d_model)
        self.register_buffer("positions", sinusoidal_positions(config.max_length, config.d_model))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits `[batch, target, vocab_size]`."""
        length = target.size(1)
        causal = nn.Transformer.generate_square_subsequent_mask(length, device=target.device)
        decoded = self.transformer(
            self._embed(source),
            self._embed(target),
            tgt_mask=causal,
            src_key_padding_mask=source == PAD,
            memory_key_padding_mask=source == PAD,
            tgt_is_causal=True,
        )
        return self.projection(decoded)

    def _embed(self, tokens: Tensor) -> Tensor:
        return self.dropout(self.embedding(tokens) * self.scale + self.positions[: tokens.size(1)])


class PlainLoop:
    """Forward, cross-entropy, backward, Adam; float32, or bf16 by autocast as ours."""

    def __init__(self, config: TransformerConfig, device: torch.device, bf16: bool = False) -> None:
        self.bf16 = bf16
        self.model = PlainTransformer(config).to(device).train()
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9
        )
        self.loss = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=config.epsilon_ls)
        self.device = device

    def update(self, batch: Batch) -> None:
        """One step."""
        batch = batch.to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            logits = self.model(batch.source, batch.target)
            loss = self.loss(logits.flatten(0, 1), batch.labels.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
