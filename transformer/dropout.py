"""Residual dropout (§5.4), with masks that are cheap to draw on a CPU."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Dropout(nn.Module):
    """Zero each element with probability P_drop and scale the others by 1 / (1 - P_drop)."""

    def __init__(self, P_drop: float) -> None:
        super().__init__()
        self.P_drop = P_drop

    def forward(self, x: Tensor) -> Tensor:
        """Drop while training; pass x through unchanged otherwise."""
        if not self.training or self.P_drop == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.P_drop)
        return x * self._keep(x)

    def _keep(self, x: Tensor) -> Tensor:
        """Draw 0 or 1 / (1 - P_drop) for each element of x.

        One 64-bit draw serves four elements: drawing each by itself takes longer than the
        matrix products around it. The rate is met within 2^-16.
        """
        draws = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
        below = min(round(self.P_drop * 2**16), 2**16 - 1) - 2**15  # within 16 bits
        keep = torch.empty(x.shape, dtype=x.dtype)
        # straight to 0 and 1: from booleans they take three times as long
        torch.ge(draws.view(torch.int16)[: x.numel()].view(x.shape), below, out=keep)
        return keep.mul_(1 / (1 - self.P_drop))
