"""ALTI and ALTI+: what share of a layer's output, or of a written word, comes from each token.

Ferrando, Gállego and Costa-jussà 2022, "Measuring the Mixing of Contextual Information in the
Transformer" (ALTI), and Ferrando et al. 2022, "Towards Opening the Black Box of Neural Machine
Translation" (ALTI+, for encoder and decoder together).
"""

import torch
from torch import Tensor

from transformer.analysis.lenses.decomposition import (
    AttentionBlock,
    block_measure,
    without_residual,
)
from transformer.analysis.lenses.names import Lens
from transformer.analysis.teacher_forcing import Progress, measure_layers
from transformer.arrays import AnyFloats
from transformer.model import Transformer
from transformer.trace import AttentionTrace


def contributions(block: AttentionBlock) -> Tensor:
    """Compute c_ij ∝ max(0, ‖y_i‖₁ − ‖y_i − T_ij‖₁), the share of T_ij in the output y_i (ALTI).

    T_ij is what key j brings to query i in all heads, with x_i on the diagonal, after the
    linearised LayerNorm: `[query, key]`. In cross-attention x_i, all that was read before, is one
    more column, the last. Each row sums to 1.
    """
    y = block.output
    length = y.abs().sum(-1)[:, None]  # [query, 1]
    near = [length - (y[:, None] - part).abs().sum(-1) for part in block.transformed()]
    seen = block.seen
    if block.kind == "cross":
        seen = torch.cat((seen, seen.new_ones(len(seen), 1)), -1)
    else:
        seen = seen | torch.eye(len(seen), dtype=torch.bool, device=seen.device)
    # a hidden key brings exactly nothing; rounding may say otherwise
    share = torch.cat(near, -1).clamp(min=0) * seen
    total = share.sum(-1, keepdim=True)
    # where no part brings the output nearer, none stands out
    share = torch.where(total == 0, seen.to(share.dtype), share)
    return share / share.sum(-1, keepdim=True)


def whole_model(
    model: Transformer, trace: AttentionTrace, *, progress: Progress | None = None
) -> AnyFloats:
    """Compute the share of each source and read token in each written word (ALTI+).

    `[target, source + target]`: first the source, then what the decoder reads, `<s>` first. Row i
    writes token i and sums to 1; feed-forward networks, which mix no positions, leave it as it is.
    """
    by_kind = measure_layers(block_measure(contributions), model, trace, progress=progress)
    encoder, decoder, cross = map(torch.from_numpy, by_kind.values())
    memory = encoder[0]
    for layer in encoder[1:]:
        memory = layer @ memory
    target, source = cross.size(1), memory.size(0)
    shares = torch.cat((cross.new_zeros(target, source), torch.eye(target, dtype=cross.dtype)), -1)
    for own, over_source in zip(decoder, cross, strict=True):
        before = over_source[:, -1:] * (own @ shares)  # by way of the residual
        before[:, :source] += over_source[:, :-1] @ memory
        shares = before
    return shares.numpy()


ALTI = Lens(
    name="alti",
    title="ALTI",
    about="how much closer a token brings a layer to its output; all heads (Ferrando et al. 2022)",
    shares="contributions",
    formula=r"$\max(0, \lVert y_i \rVert_1 - \lVert y_i - T_{ij} \rVert_1)$: how much nearer to "
    r"the output $y_i$ comes what key $j$ brings through all heads of a layer, $T_{ij}$ (ALTI, "
    r"Ferrando et al. 2022, §3). The residual counts on the diagonal of self-attention; its "
    r"share in cross-attention is not drawn",
    function=contributions,
    measure=without_residual(contributions),
    has_heads=False,
    without_residual=True,
)
