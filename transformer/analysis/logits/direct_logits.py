"""Direct logit attribution: what each head adds to a logit by way of the residual stream.

The logits are linear in the decoder's output, and that is exactly a sum of what each part of the
model wrote (`stream`): so is each logit (Elhage et al. 2021, "A Mathematical Framework for
Transformer Circuits"; here for a post-norm model, where the stream itself passes every norm).
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch

from transformer.analysis.stream import (
    BIASES,
    POSITION,
    TOKEN,
    Part,
    stream_of,
    stream_points,
)
from transformer.analysis.teacher_forcing import forced_pair, require_piece, to_array, values_at
from transformer.arrays import AnyFloats
from transformer.kinds import KIND_TITLES, Kind
from transformer.model import Transformer
from transformer.trace import AttentionTrace

DecoderKind: TypeAlias = Literal["decoder_self", "cross"]
"""The kinds whose output is added to the stream that ends in the logits."""


@dataclass(frozen=True, eq=False)
class DirectLogits:
    """One number at each step, such as a logit, as the sum of what was added to the stream."""

    heads: dict[DecoderKind, AnyFloats]  # `[layer, head, target]` of each kind, signed
    feed_forward: AnyFloats  # `[layer, target]`, each feed-forward network
    tokens: AnyFloats  # `[target]`, the embedding of the token that is read (§3.4)
    positions: AnyFloats  # `[target]`, the encoding of its position (§3.5)
    biases: AnyFloats  # `[target]`, of norms and projections; those of values are in `heads`
    logits: AnyFloats  # `[target]`, the number itself, which all of these add up to

    def parts(self, step: int) -> dict[str, float]:
        """Return the summands at one step by name, in the order in which the decoder adds them."""
        parts = {"token": self.tokens[step], "position": self.positions[step]}
        for layer in range(len(self.feed_forward)):
            for kind, heads in self.heads.items():
                name = KIND_TITLES[kind].removeprefix("decoder ")
                parts[f"L{layer + 1} {name}"] = heads[layer, :, step].sum()
            parts[f"L{layer + 1} feed-forward"] = self.feed_forward[layer, step]
        parts["biases"] = self.biases[step]
        return {name: float(value) for name, value in parts.items()}


@torch.inference_mode()
def direct_logits(
    model: Transformer, trace: AttentionTrace, against: int | None = None
) -> DirectLogits:
    """Compute the contribution of each head to the logit of each written piece.

    Where a token id is given as `against`, the difference of the two logits is taken apart, which
    is the logarithm of the odds.
    """
    pair = forced_pair(model, trace)
    direction = model.projection[pair.written]  # [target, d_model]
    if against is not None:
        require_piece(model, against)
        direction = direction - model.projection[against]
    all_logits, cache = values_at(model, pair, stream_points(model, "decoder"))
    logits = all_logits.gather(-1, pair.written[:, None])[:, 0]
    if against is not None:
        logits = logits - all_logits[:, against]
    stream = stream_of(model, cache, "decoder")
    amounts = (stream.parts * direction).sum(-1)  # [writer, target]
    N = model.config.decoder.N

    def amounts_of(part: Part, kind: Kind | None = None) -> AnyFloats:
        """Return the amounts of these writers, `[layer, ..., target]`."""
        places = [n for n, (_, name, _, head) in enumerate(stream.writers)
                  if name == part and (head is None or head.kind == kind)]  # fmt: skip
        return to_array(amounts[places].unflatten(0, (N, -1)))

    return DirectLogits(
        heads={
            "decoder_self": amounts_of("head", "decoder_self"),
            "cross": amounts_of("head", "cross"),
        },
        feed_forward=amounts_of("feed-forward")[:, 0],
        tokens=to_array(amounts[TOKEN]),
        positions=to_array(amounts[POSITION]),
        # the projection is linear, but for a bias that it may have
        biases=to_array(amounts[BIASES] + logits - amounts.sum(0)),
        logits=to_array(logits),
    )
