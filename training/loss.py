"""Label-smoothed cross-entropy that never holds the logits of a whole batch (§5.4)."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from transformer.config import PAD
from transformer.masks import padding_mask
from transformer.model import Transformer

CHUNK, CHUNK_ON_GPU = 1024, 8192
"""Positions whose logits are in memory at one time; to a GPU, small products are mostly waiting."""
LOGITS = 2**24
"""Of a chunk on a CPU, at most: with a large vocabulary they would be most of a run's memory."""


def with_bias(decoded: Tensor, projection: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """Append the bias, `[vocab_size]`, to the projection as a column, and a 1 to `decoded`.

    Return `[..., d_model + 1]` and `[vocab_size, d_model + 1]`; without a bias what was given.
    """
    if bias is None:
        return decoded, projection
    return F.pad(decoded, (0, 1), value=1), torch.cat((projection, bias[:, None]), 1)


def decode_with_bias(model: Transformer, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Decode token ids, `[batch, position]`; return what `with_bias` returns."""
    mask = padding_mask(source)
    decoded = model.decode(target, model.encode(source, mask), mask)
    return with_bias(decoded, model.projection, model.output_bias)


def label_smoothed_loss(
    decoded: Tensor,
    projection: Tensor,
    labels: Tensor,
    epsilon_ls: float,
    chunk: int | None = None,
) -> Tensor:
    """Sum over the real positions of the cross-entropy against smoothed labels, in nats.

    The label has probability 1 - ε + ε/V, each other piece ε/V (Szegedy et al. 2016, the
    paper's [36]); padding is not counted. The shapes are `decoded` `[..., d_model]`, `projection`
    `[vocab_size, d_model]` and `labels` `[...]`; `chunk` positions are projected at one time.
    """
    if not torch.is_grad_enabled():
        # a parameter asks for its gradient even there, and that is two thirds of the products
        decoded, projection = decoded.detach(), projection.detach()
    flat = decoded.reshape(-1, decoded.size(-1))
    chunk = chunk or positions_at_once(projection)
    return _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        flat, projection, labels.reshape(-1), epsilon_ls, chunk
    )


def positions_at_once(projection: Tensor) -> int:
    """Choose the chunk size for a projection, `[vocab_size, d_model]`, on its device."""
    if projection.device.type != "cpu":
        return CHUNK_ON_GPU
    return max(1, min(CHUNK, LOGITS // len(projection)))


def r_drop_loss(
    decoded_twice: Tensor,
    projection: Tensor,
    labels: Tensor,
    epsilon_ls: float,
    weight: float,
) -> Tensor:
    """Compute the loss of R-Drop (Wu et al. 2021, arXiv:2106.14448). Not in the paper.

    The mean loss of two passes plus how far they disagree, in nats:
    (L_1 + L_2) / 2 + weight · (KL(P_1 ‖ P_2) + KL(P_2 ‖ P_1)) / 4, which is the published
    loss halved, so that one sentence weighs what it weighs without R-Drop.
    `decoded_twice`, `[2 * batch, target, d_model]`, is the same batch under two dropout masks.
    """
    halves = decoded_twice.unflatten(0, (2, -1)).flatten(1, 2)  # [2, position, d_model]
    flat = labels.flatten()
    total = torch.zeros((), device=decoded_twice.device)
    size = positions_at_once(projection)
    for start in range(0, len(flat), size):
        chunk = slice(start, start + size)
        total += checkpoint(
            _r_drop_chunk, halves[:, chunk], projection, flat[chunk], epsilon_ls, weight,
            use_reentrant=False, preserve_rng_state=False,
        )  # fmt: skip
    return total


def _r_drop_chunk(
    decoded: Tensor, projection: Tensor, labels: Tensor, epsilon_ls: float, weight: float
) -> Tensor:
    """Compute the loss of one chunk, whose logits are recomputed in the backward pass."""
    log_p = F.log_softmax(F.linear(decoded, projection).float(), dim=-1)  # [2, chunk, vocab]
    label_log_p = log_p.gather(2, labels.expand(2, -1).unsqueeze(-1)).squeeze(2)  # [2, chunk]
    smoothed = -(1 - epsilon_ls) * label_log_p - epsilon_ls * log_p.mean(2)
    first, second = log_p
    # KL both ways: Σ (P_1 - P_2) (log P_1 - log P_2)
    divergence = ((first.exp() - second.exp()) * (first - second)).sum(-1)  # [chunk]
    # padding is multiplied by 0: selecting the real positions would wait for the GPU
    return ((smoothed.mean(0) + weight * divergence / 4) * (labels != PAD)).sum()


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Projection, softmax and cross-entropy in one, chunk by chunk.

    The gradient is computed with the loss, while a chunk's probabilities are in memory: the loss
    is a sum, so the incoming gradient is one scalar that multiplies it. With respect to the
    logits it is p - y, where y is the smoothed label. The contribution of y has a closed form,
    so the softmax is the only elementwise pass over the logits.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        projection: Tensor,
        labels: Tensor,
        epsilon: float,
        chunk_size: int,
    ) -> Tensor:
        device = x.device.type  # the matrix products are in the type of autocast, where it is on
        is_autocast = torch.is_autocast_enabled(device)
        dtype = torch.get_autocast_dtype(device) if is_autocast else x.dtype
        # sums of many small numbers: never in less than float32
        exact = torch.promote_types(dtype, torch.float32)
        real = (labels != PAD).to(exact)[:, None]  # [position, 1]
        x_real, mean_W = x.to(exact) * real, projection.to(exact).mean(0)
        x_low, W = x_real.to(dtype), projection.to(dtype)
        needs_gradient = ctx.needs_input_grad[0] or ctx.needs_input_grad[1]
        losses = torch.empty(x.size(0), dtype=exact, device=x.device)
        grad_x = torch.empty_like(x_real)
        grad_W = torch.zeros_like(projection, dtype=exact)
        for start in range(0, x.size(0), chunk_size):
            chunk = slice(start, start + chunk_size)
            logits = x_low[chunk] @ W.T  # [chunk, vocab]
            p = logits.softmax(-1)
            # log Σ exp(logits), from the most probable piece, whose p is never 0
            log_sum_exp = logits.amax(-1).to(exact) - p.amax(-1).to(exact).log()
            label_logit = logits.gather(1, labels[chunk, None]).squeeze(1)
            losses[chunk] = log_sum_exp - (1 - epsilon) * label_logit
            if needs_gradient:
                p_low = p.to(dtype)  # once: a GPU's autocast gives a softmax in float32
                grad_x[chunk] = p_low @ W
                grad_W += p_low.T @ x_low[chunk]
        # ε/V of each logit; no matrix product, which autocast would compute in bfloat16
        losses -= epsilon * (x_real * mean_W).sum(-1)
        if not needs_gradient:
            return (losses * real.squeeze(1)).sum()
        grad_x -= epsilon * mean_W + (1 - epsilon) * projection[labels]
        grad_W -= epsilon / W.size(0) * x_real.sum(0)
        grad_W.index_add_(0, labels, x_real, alpha=epsilon - 1)
        ctx.save_for_backward(grad_x.mul_(real), grad_W)
        ctx.dtypes = (x.dtype, projection.dtype)
        return (losses * real.squeeze(1)).sum()

    @staticmethod
    def backward(ctx: Any, *grad_output: Tensor) -> tuple[Tensor | None, ...]:
        grad_x, grad_W = ctx.saved_tensors
        (scale,) = grad_output  # the loss is a scalar
        x_dtype, W_dtype = ctx.dtypes
        return (grad_x * scale).to(x_dtype), (grad_W * scale).to(W_dtype), None, None, None
