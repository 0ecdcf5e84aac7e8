"""Label-smoothed cross-entropy that never holds the logits of a whole batch (§5.4)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from transformer.config import PAD

ROWS = 512  # positions whose logits exist at one time: few enough to stay in the cache


def label_smoothed_loss(
    decoded: Tensor,
    projection: Tensor,
    labels: Tensor,
    epsilon_ls: float,
    pad: int = PAD,
    rows: int = ROWS,
) -> Tensor:
    """Sum over the real positions of the cross-entropy against smoothed labels.

    The label has probability 1 - ε + ε/V, each other piece ε/V (Szegedy et al. 2016, the
    paper's [36]); padding counts nothing.

    Args:
        decoded: `[..., d_model]`, the decoder's output.
        projection: `[vocab_size, d_model]`, the shared matrix.
        labels: `[...]`, the pieces to be predicted.
        epsilon_ls: ε.
        rows: positions projected at one time.

    Returns:
        A scalar in nats, float32 (float64 if `decoded` is).
    """
    flat = decoded.reshape(-1, decoded.size(-1))
    loss: Tensor = _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        flat, projection, labels.reshape(-1), epsilon_ls, pad, rows
    )
    return loss


def r_drop_loss(
    decoded_twice: Tensor,
    projection: Tensor,
    labels: Tensor,
    epsilon_ls: float,
    weight: float,
    pad: int = PAD,
) -> Tensor:
    """Mean loss of two passes plus how far they disagree. Not in the paper (Wu et al. 2021).

    (L_1 + L_2) / 2 + weight · (KL(P_1 ‖ P_2) + KL(P_2 ‖ P_1)) / 4, which is the published
    loss halved, so that one sentence weighs what it weighs without R-Drop.

    Args:
        decoded_twice: `[2 * batch, target, d_model]`, the same batch under two dropout masks.
        labels: `[batch, target]`.
        weight: α of R-Drop.

    Returns:
        A scalar in nats, float32.
    """
    real = labels != pad
    halves = decoded_twice.unflatten(0, (2, -1))[:, real]  # [2, real, d_model]
    total = torch.zeros((), device=decoded_twice.device)
    for start in range(0, halves.size(1), ROWS):
        rows, chunk = halves[:, start : start + ROWS], labels[real][start : start + ROWS]
        total += checkpoint(
            _r_drop_rows, rows, projection, chunk, epsilon_ls, weight, use_reentrant=False
        )
    return total


def _r_drop_rows(
    rows: Tensor, projection: Tensor, labels: Tensor, epsilon_ls: float, weight: float
) -> Tensor:
    """One chunk; its logits are computed again in the backward pass instead of being kept."""
    log_p = F.log_softmax(F.linear(rows, projection).float(), dim=-1)  # [2, rows, vocab]
    label = labels.expand(2, -1).unsqueeze(-1)
    smoothed = -(1 - epsilon_ls) * log_p.gather(2, label).sum() - epsilon_ls * log_p.mean(2).sum()
    first, second = log_p
    # KL both ways: Σ (P_1 - P_2) (log P_1 - log P_2)
    divergence = ((first.exp() - second.exp()) * (first - second)).sum()
    loss: Tensor = smoothed / 2 + weight * divergence / 4
    return loss


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Projection, softmax and cross-entropy in one, chunk by chunk.

    The gradient is computed beside the loss, while a chunk's logits are there: the loss is a
    sum, so what comes from above is one number that scales it.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        projection: Tensor,
        labels: Tensor,
        epsilon: float,
        pad: int,
        rows: int,
    ) -> Tensor:
        dtype = _compute_dtype(x)
        x_low, W = x.to(dtype), projection.to(dtype)
        wanted = ctx.needs_input_grad[0] or ctx.needs_input_grad[1]
        grad_x = torch.empty_like(x_low) if wanted else None
        # sums of many small numbers: never in less than float32
        exact = torch.promote_types(dtype, torch.float32)
        grad_W = torch.zeros_like(projection, dtype=exact) if wanted else None
        total = torch.zeros((), dtype=exact, device=x.device)
        for start in range(0, x.size(0), rows):
            chunk = slice(start, start + rows)
            real = labels[chunk] != pad  # [rows]
            logits = (x_low[chunk] @ W.T).to(exact)  # [rows, vocab]
            log_p = F.log_softmax(logits, dim=-1)
            of_label = log_p.gather(1, labels[chunk, None]).squeeze(1)
            losses = -(1 - epsilon) * of_label - epsilon * log_p.mean(-1)
            total += (losses * real).sum()
            if grad_x is None or grad_W is None:
                continue
            # d loss / d logits = softmax - smoothed label
            grad = log_p.exp_().sub_(epsilon / W.size(0))
            grad.scatter_add_(
                1, labels[chunk, None], torch.full_like(of_label, epsilon - 1)[:, None]
            )
            low = grad.mul_(real[:, None]).to(dtype)
            grad_x[chunk] = low @ W
            grad_W += low.T @ x_low[chunk]
        ctx.save_for_backward(grad_x, grad_W)
        ctx.dtypes = (x.dtype, projection.dtype)
        return total

    @staticmethod
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        grad_x, grad_W = ctx.saved_tensors
        of_x, of_W = ctx.dtypes
        return (grad_x * above[0]).to(of_x), (grad_W * above[0]).to(of_W), None, None, None, None


def _compute_dtype(x: Tensor) -> torch.dtype:
    """The type of the matrix products: autocast's where it is on, else that of x."""
    device = x.device.type
    if torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return x.dtype
