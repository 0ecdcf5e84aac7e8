"""Token embeddings times √d_model, and positions: sinusoidal or learned (§3.4, §3.5)."""

import math

import torch
from torch import Tensor, nn

from transformer import dropout, errors, hooks
from transformer.config import TransformerConfig


def sinusoidal_positions(length: int, d_model: int) -> Tensor:
    """Compute the sinusoidal positional encoding, `[length, d_model]`, in float64 (§3.5).

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model)): sine
    and cosine of one frequency are neighbours.
    """
    # on the meta device, a range would load torch's compiler, which takes a second
    cpu = torch.device("cpu")
    position = torch.arange(length, dtype=torch.float64, device=cpu)[:, None]  # [length, 1]
    two_i = torch.arange(0, d_model, 2, dtype=torch.float64, device=cpu)  # [d_model / 2]
    angle = position / 10_000 ** (two_i / d_model)  # [length, d_model / 2]
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()


class Embedding(nn.Module):
    """Dropout(embedding · √d_model + position), the input of each stack (§3.4, §3.5, §5.4).

    `table`, `[vocab_size, d_model]`, is the matrix that both stacks and the projection share
    (§3.4), or the encoder's own where the source has a vocabulary of its own.
    """

    positions: Tensor

    def __init__(self, config: TransformerConfig, table: nn.Parameter) -> None:
        super().__init__()
        self.table = table
        self.scale = math.sqrt(config.d_model) if config.scale_embedding else 1.0
        if config.positions == "sinusoidal":
            waves = sinusoidal_positions(config.max_length, config.d_model)
            # computed by a formula, so not stored in the checkpoint
            self.register_buffer("positions", waves, persistent=False)
        else:
            # the RMS of the sinusoids, 1/√2: much smaller, the token embeddings would dominate
            std = math.sqrt(0.5)
            self.positions = nn.Parameter(torch.randn(config.max_length, config.d_model) * std)
        self.dropout = dropout.Dropout(config.P_drop)
        self.hook_tokens = hooks.HookPoint()  # [batch, position, d_model]
        self.hook_positions = hooks.HookPoint()  # [1, position, d_model]
        self.hook_sum = hooks.HookPoint()  # [batch, position, d_model], what the first layer reads

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Embed ids `[batch, position]`, the first at `start`, as `[batch, position, d_model]`."""
        end = start + tokens.size(1)
        self.require_positions(end)
        embedded = self.hook_tokens(nn.functional.embedding(tokens, self.table) * self.scale)
        position = self.positions[start:end][None]
        if self.hook_positions.watched:
            position = position.clone()  # the table is everybody's, and a hook may edit in place
        position = self.hook_positions(position)
        x = self.dropout(embedded + position)
        if torch.is_autocast_enabled(x.device.type):
            # the residual stream begins here, and every layer keeps its type
            x = x.to(torch.get_autocast_dtype(x.device.type))
        return self.hook_sum(x)  # type: ignore[no-any-return]

    def require_positions(self, end: int) -> None:
        """Raise InputError if a sequence of `end` pieces is longer than the model accepts."""
        if end > self.positions.size(0):
            raise errors.InputError(
                f"The sequence has {end} pieces, but this model takes at most "
                f"{self.positions.size(0)}: shorten the text."
            )
