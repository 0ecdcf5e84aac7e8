"""Why this piece and not that one: contrastive attribution (Yin & Neubig 2022)."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from transformer.analysis.lenses.gradient import attention_products
from transformer.analysis.logits.direct_logits import DecoderKind, direct_logits
from transformer.analysis.teacher_forcing import (
    MAX_TENSOR_SIZE,
    ForcedPair,
    Progress,
    forced_pair,
    require_piece,
    to_array,
)
from transformer.arrays import AnyFloats
from transformer.choices import require_number
from transformer.errors import InputError
from transformer.kinds import Kind
from transformer.model import Transformer
from transformer.trace import AttentionTrace


@dataclass(frozen=True, eq=False)
class Contrast:
    """Contributions to the written piece, above 0, and to the other one, below 0; in nats."""

    log_odds: float  # log P(written) − log P(other), given the source and all before
    values: dict[
        Kind, AnyFloats
    ]  # `[layer, head, key]`, gradient × value: log-odds lost without it
    direct: dict[DecoderKind, AnyFloats]  # `[layer, head]`, what it adds to the logits' difference

    @property
    def by_source(self) -> AnyFloats:
        """`[source]`: gradient × value of each source token, over all heads of cross-attention."""
        return self.values["cross"].sum((0, 1))

    @property
    def by_head(self) -> dict[Kind, AnyFloats]:
        """`[layer, head]` of each kind: the same over all keys, which is gradient × z."""
        return {kind: values.sum(-1) for kind, values in self.values.items()}


def contrast(model: Transformer, trace: AttentionTrace, step: int, other: int) -> Contrast:
    """Compare the piece that was written at one step, from 0, with the one of another token id."""
    pair = pair_until_step(model, trace, step, other)
    products = attention_products(
        model, pair, "v", lambda pair: log_odds(model(pair.source, pair.target), pair, other)[0]
    )
    prefix = replace(trace, target_pieces=trace.target_pieces[: step + 1])
    direct = direct_logits(model, prefix, against=other)
    return Contrast(
        log_odds=float(direct.logits[step]),
        values={kind: parts.sum(-1) for kind, parts in products.items()},
        direct={kind: heads[..., step] for kind, heads in direct.heads.items()},
    )


@torch.inference_mode()
def erase(
    model: Transformer,
    trace: AttentionTrace,
    step: int,
    other: int,
    *,
    progress: Progress | None = None,
) -> AnyFloats:
    """Compute the fall of the log-odds without each source token, in nats: the check of `contrast`.

    The token is masked as padding is: no head of the encoder and none of the cross-attention sees
    it. What came before in the translation stays. `[source]`; above 0, the token speaks for what
    was written. `progress` counts one run for each token, and one with all of them, several at
    once.
    """
    pair = pair_until_step(model, trace, step, other)
    source = pair.source.size(1)
    if source == 1:
        raise InputError("The sentence has one piece alone: without it nothing is left to read.")
    # row 0 sees all, row j + 1 all but token j
    mask = ~torch.eye(source + 1, source, dtype=torch.bool, device=pair.source.device).roll(1, 0)
    stacks = (model.config, model.config.decoder)
    wide = max(max(stack.d_ff, stack.h * source) for stack in stacks)
    rows = max(1, MAX_TENSOR_SIZE // (wide * max(source, pair.target.size(1))))
    odds = pair.source.new_empty(0, dtype=model.shared_embedding.dtype)
    for part in mask.split(rows):
        seen = part[:, None, None]  # [row, 1, 1, source]
        memory = model.encode(pair.source.expand(len(part), -1), seen)
        decoded = model.decode(pair.target.expand(len(part), -1), memory, seen)
        odds = torch.cat((odds, log_odds(model.logits(decoded[:, -1:]), pair, other)))
        if progress:
            progress(len(odds), len(mask))
    return to_array(odds[0] - odds[1:])


def log_odds(logits: Tensor, pair: ForcedPair, other: int) -> Tensor:
    """Subtract the logit of the other piece from that of the last written one, `[row]`."""
    return logits[:, -1, pair.written[-1]] - logits[:, -1, other]


def pair_until_step(model: Transformer, trace: AttentionTrace, step: int, other: int) -> ForcedPair:
    """Cut the translation behind this step: later pieces change nothing."""
    whole = forced_pair(model, trace)
    require_number("step", step, len(whole.written))
    require_piece(model, other)
    if other == int(whole.written[step]):
        raise InputError("This is the piece that was written: choose another one.")
    return ForcedPair(whole.source, whole.target[:, : step + 1], whole.written[: step + 1])
