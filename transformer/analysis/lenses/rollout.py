"""Attention rollout: weights followed through the layers (Abnar & Zuidema 2020, §3)."""

from __future__ import annotations

import torch
from torch import Tensor

from transformer.analysis.teacher_forcing import Array, Progress, patterns, to_array
from transformer.kinds import Kind
from transformer.model import Transformer
from transformer.trace import AttentionTrace


def rollout(
    model: Transformer, trace: AttentionTrace, kind: Kind, *, progress: Progress | None = None
) -> Array:
    """What share of each position of a layer comes from each input token, by weights alone.

    Each sub-layer of attention keeps half of the residual stream and takes the other half by the
    mean of its heads: Â = ½ A + ½ I. In self-attention R_l = Â_l R_{l−1}, with R_0 = I.

    Cross-attention is followed on both sides. Its keys are the encoder's output, each the rollout
    R of the whole encoder; and what a position has taken from the source reaches later positions
    by the decoder's self-attention: S_l = ½ A_l R + ½ Â_l S_{l−1}, with S_0 = 0. The rest of a row,
    2^−l in layer l (from 1), comes from the decoder's own input; it is left out, and the rows are
    scaled to sum to 1.

    Returns:
        `[layer, query, key]`; each row sums to 1.

    Raises:
        InputError: if the trace does not fit the model.
    """
    if kind != "cross":
        return to_array(torch.stack(_through(_mean_of_heads(model, trace, kind), progress)))
    memory = _through(_mean_of_heads(model, trace, "encoder_self"))[-1]
    own = _with_residual(_mean_of_heads(model, trace, "decoder_self"))
    cross = _mean_of_heads(model, trace, "cross")
    found = []
    from_source = torch.zeros_like(cross[0])
    for layer, (A, Â) in enumerate(zip(cross, own, strict=True), start=1):
        from_source = (A @ memory + Â @ from_source) / 2
        found.append(from_source / from_source.sum(-1, keepdim=True))
        if progress:
            progress(layer, len(cross))
    return to_array(torch.stack(found))


def _mean_of_heads(model: Transformer, trace: AttentionTrace, kind: Kind) -> Tensor:
    return patterns(model, trace, kind).mean(1)  # [layer, query, key]


def _with_residual(weights: Tensor) -> Tensor:
    return (weights + torch.eye(weights.size(-1)).to(weights)) / 2


def _through(weights: Tensor, progress: Progress | None = None) -> list[Tensor]:
    """R_l of each layer, `[query, key]`, from the mean weights `[layer, query, key]`."""
    found: list[Tensor] = []
    for Â in _with_residual(weights):
        found.append(Â @ found[-1] if found else Â)
        if progress:
            progress(len(found), len(weights))
    return found
