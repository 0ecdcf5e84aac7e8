"""Attention rollout: weights followed through the layers (Abnar & Zuidema 2020, §3)."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from transformer.analysis.axes import by_pieces, mean_of_heads
from transformer.analysis.heads.measures import in_shares
from transformer.analysis.teacher_forcing import (
    Array,
    Cache,
    Progress,
    forced_pair,
    pattern_points,
    patterns,
    to_array,
    values_at,
)
from transformer.errors import InputError
from transformer.kinds import KINDS, Kind
from transformer.model import Transformer
from transformer.trace import AttentionTrace


def points(model: Transformer, kind: Kind) -> set[str]:
    """Name the hook points that `rollout` reads: cross-attention is followed through all kinds."""
    kinds = KINDS if kind == "cross" else (kind,)
    return {name for member in kinds for name in pattern_points(model, member)}


def rollout(
    model: Transformer,
    trace: AttentionTrace,
    kind: Kind,
    *,
    progress: Progress | None = None,
    cache: Cache | None = None,
) -> Array:
    """Compute the share of each input token in each position of a layer, from the weights alone.

    Each sub-layer of attention keeps half of the residual stream and takes the other half by the
    mean of its heads: Â = ½ A + ½ I. In self-attention R_l = Â_l R_{l−1}, with R_0 = I.

    Cross-attention is followed on both sides. Its keys are the encoder's output, each the rollout
    R of the whole encoder; and what a position has taken from the source reaches later positions
    by the decoder's self-attention: S_l = ½ C_l R + ½ Â_l S_{l−1}, with the mean C_l of the cross
    heads and S_0 = 0. The rest of a row, 2^−l in layer l (from 1), comes from the decoder's own
    input; it is left out, and the rows are scaled to sum to 1.

    Args:
        model: the model.
        trace: the trace of the sentence and its translation.
        kind: the kind of attention.
        progress: a callback after each layer, with the number done and the number of all.
        cache: the values at `points` in a pass over this trace; without them, a pass is made.

    Returns:
        `[layer, query, key]`; each row sums to 1.

    Raises:
        InputError: if the trace does not fit the model.
    """
    if cache is None:
        with torch.inference_mode():
            _, cache = values_at(model, forced_pair(model, trace), points(model, kind))
    kinds = KINDS if kind == "cross" else (kind,)
    means = {member: patterns(model, trace, member, cache).mean(1) for member in kinds}
    return to_array(torch.stack(_rollout_layers(means, kind, progress)))


def rollout_of_weights(
    trace: AttentionTrace, kind: Kind, *, progress: Progress | None = None
) -> Array:
    """Compute `rollout` from the weights of a trace, without the model that made them.

    Returns:
        `[layer, query, key]`; each row sums to about 1, those of the weights being taken as shares,
        unless a row has no weight at all.

    Raises:
        InputError: if the trace has not all kinds of attention that this one is followed through,
            or its decoder not as many layers of both.
    """
    kinds = KINDS if kind == "cross" else (kind,)
    absent = [member for member in kinds if member not in trace.kinds]
    if absent:
        raise InputError(
            f"Rollout of {kind} follows {', '.join(kinds)}, and this trace has no "
            f"{' and no '.join(absent)}: look at the weights."
        )
    if kind == "cross" and len(trace.cross) != len(trace.decoder_self):
        raise InputError(
            f"Rollout of cross needs both attentions in each layer of the decoder, and this trace "
            f"has {len(trace.decoder_self)} layers of its own and {len(trace.cross)} of cross: "
            f"look at the weights."
        )
    means = {
        member: torch.from_numpy(mean_of_heads(in_shares(by_pieces(trace, member))))
        for member in kinds
    }
    return to_array(torch.stack(_rollout_layers(means, kind, progress)))


def _rollout_layers(
    means: Mapping[Kind, Tensor], kind: Kind, progress: Progress | None
) -> list[Tensor]:
    """Follow the mean weights `[layer, query, key]` to the share of each input in each layer."""
    if kind != "cross":
        return _layer_products(means[kind], progress)
    memory = _layer_products(means["encoder_self"])[-1]
    own = _with_residual(means["decoder_self"])
    cross = means["cross"]
    layers = []
    from_source = torch.zeros_like(cross[0])
    for layer, (A, Â) in enumerate(zip(cross, own, strict=True), start=1):
        from_source = (A @ memory + Â @ from_source) / 2
        total = from_source.sum(-1, keepdim=True)
        layers.append(from_source / total.where(total != 0, 1))
        if progress:
            progress(layer, len(cross))
    return layers


def _with_residual(weights: Tensor) -> Tensor:
    return (weights + torch.eye(weights.size(-1)).to(weights)) / 2


def _layer_products(weights: Tensor, progress: Progress | None = None) -> list[Tensor]:
    """Multiply R_l of each layer, `[query, key]`, from the mean weights `[layer, query, key]`."""
    layers: list[Tensor] = []
    for Â in _with_residual(weights):
        layers.append(Â @ layers[-1] if layers else Â)
        if progress:
            progress(len(layers), len(weights))
    return layers
