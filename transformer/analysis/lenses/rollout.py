"""Attention rollout: weights followed through the layers (Abnar & Zuidema 2020, §3)."""

from collections.abc import Iterator, Mapping
from itertools import accumulate

import torch
from torch import Tensor

from transformer import choices, errors
from transformer.analysis.axes import by_pieces, mean_of_heads
from transformer.analysis.heads import measures
from transformer.analysis.lenses.names import Lens
from transformer.analysis.teacher_forcing import Cache, LayerMeasure, patterns, stack_layers
from transformer.kinds import KINDS, Kind
from transformer.model import Transformer
from transformer.trace import AttentionTrace


def points(model: Transformer, kind: Kind) -> set[str]:
    """Name the hook points that `rollout` reads."""
    followed = _followed(kind)
    return {name for member in followed for name in model.attention_points(member, "pattern")}


def _followed(kind: Kind) -> tuple[Kind, ...]:
    return KINDS if kind == "cross" else (kind,)


def rollout(model: Transformer, cache: Cache, kind: Kind) -> Iterator[Tensor]:
    """Compute the share of each input token in each position of a layer, from the weights alone.

    Each sub-layer of attention keeps half of the residual stream and takes the other half by the
    mean of its heads: Â = ½ A + ½ I. In self-attention R_l = Â_l R_{l−1}, with R_0 = I.
    Cross-attention is followed on both sides. Its keys are the encoder's output, each the rollout
    R of the whole encoder; and what a position has taken from the source reaches later positions
    by the decoder's self-attention: S_l = ½ C_l R + ½ Â_l S_{l−1}, with the mean C_l of the cross
    heads and S_0 = 0. The rest of a row, 2^−l in layer l (from 1), comes from the decoder's own
    input; it is left out, and the rows of each layer, `[query, key]`, are scaled to sum to 1.
    """
    means = {
        member: torch.stack(patterns(model, cache, member)).mean(1) for member in _followed(kind)
    }
    return _rollout_layers(means, kind)


@choices.check_choices
def rollout_of_weights(trace: AttentionTrace, kind: Kind) -> Iterator[Tensor]:
    """Compute `rollout` from the weights of a trace, as shares of their rows, without the model."""
    kinds = _followed(kind)
    absent = [member for member in kinds if member not in trace.kinds]
    if absent:
        raise errors.InputError(
            f"Rollout of {kind} follows {', '.join(kinds)}, and this trace has no "
            f"{' and no '.join(absent)}: look at the weights."
        )
    if kind == "cross" and len(trace.cross) != len(trace.decoder_self):
        raise errors.InputError(
            f"Rollout of cross needs both attentions in each layer of the decoder, and this trace "
            f"has {len(trace.decoder_self)} layers of its own and {len(trace.cross)} of cross: "
            f"look at the weights."
        )
    if any(0 in trace.head_count(member) for member in kinds):
        raise errors.InputError(
            "Rollout follows attention through every layer, and some layers of this trace have "
            "none: look at the weights."
        )
    means = {
        member: torch.from_numpy(mean_of_heads(measures.in_shares(by_pieces(trace, member))))
        for member in kinds
    }
    return _rollout_layers(means, kind)


def _rollout_layers(means: Mapping[Kind, Tensor], kind: Kind) -> Iterator[Tensor]:
    """Follow the mean weights `[layer, query, key]` to the share of each input in each layer."""
    if kind != "cross":
        yield from _layer_products(means[kind])
        return
    *_, memory = _layer_products(means["encoder_self"])
    own, cross = _with_residual(means["decoder_self"]), means["cross"]
    from_source = torch.zeros_like(cross[0])
    for A, Â in zip(cross, own, strict=True):
        from_source = (A @ memory + Â @ from_source) / 2
        total = from_source.sum(-1, keepdim=True)
        yield from_source / total.where(total != 0, 1)


def _with_residual(weights: Tensor) -> Tensor:
    return (weights + torch.eye(weights.size(-1)).to(weights)) / 2


def _layer_products(weights: Tensor) -> Iterator[Tensor]:
    """Multiply R_l of each layer, `[query, key]`, from the mean weights `[layer, query, key]`."""
    return accumulate(_with_residual(weights), lambda product, Â: Â @ product)


ROLLOUT = Lens(
    name="rollout",
    title="rollout",
    about="weights traced through all layers; all heads (Abnar and Zuidema 2020)",
    shares="weights, traced down to the input",
    formula=r"$R_l = (\tfrac{1}{2} A_l + \tfrac{1}{2} I)\, R_{l-1}$, where $A_l$ is the mean of "
    r"the heads of layer $l$: weights alone, followed down to the input (Abnar and Zuidema 2020, "
    r"§3). Into cross-attention it is continued here by $S_l = \tfrac{1}{2} C_l R + "
    r"\tfrac{1}{2} \hat{A}_l S_{l-1}$, with the mean $C_l$ of the layer's cross heads, the "
    r"encoder's whole rollout $R$, and $\hat{A}_l = \tfrac{1}{2} A_l + \tfrac{1}{2} I$ of the "
    r"decoder's self-attention",
    function=rollout,
    measure=LayerMeasure(points, rollout),
    has_heads=False,
    of_trace=lambda trace, kind, step: stack_layers(rollout_of_weights(trace, kind), step),
)
