"""Direct logit attribution: what each head adds to a logit by way of the residual stream.

The decoder's output is what its embeddings, heads, feed-forward networks and biases add to the
residual stream, each passed through the norms of all later sub-layers. With the mean and the
variance of these held fixed they are linear, and so the logit is a sum (Elhage et al. 2021, "A
Mathematical Framework for Transformer Circuits"; here for a post-norm model, where the stream
itself passes through every norm).
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from transformer.analysis.lenses.decomposition import head_W_O
from transformer.analysis.teacher_forcing import forced_pair, require_piece, to_array, values_at
from transformer.arrays import AnyFloats
from transformer.model import Transformer
from transformer.trace import AttentionTrace

DecoderKind: TypeAlias = Literal["decoder_self", "cross"]
"""The kinds whose output is added to the stream that ends in the logits."""


_PARTS: dict[DecoderKind | None, str] = {
    "decoder_self": "self_attention",
    "cross": "cross_attention",
    None: "feed_forward",
}
"""Sub-layers of a decoder layer, in the order in which they run."""


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
                name = _PARTS[kind].replace("_", "-")
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
    sublayers = [
        (kind, layer, f"decoder.layers.{layer}.{part}")
        for layer in range(model.config.decoder.N)
        for kind, part in _PARTS.items()
    ]
    read = ("sublayer", "sum", "normalised")
    names = {f"{name}_norm.hook_{point}" for _, _, name in sublayers for point in read}
    names |= {f"{name}.hook_z" for kind, _, name in sublayers if kind is not None}
    names |= {f"decoder.embedding.hook_{point}" for point in ("tokens", "positions")}
    all_logits, cache = values_at(model, pair, names)
    values = {name: value[0] for name, value in cache.items()}

    logits = all_logits.gather(-1, pair.written[:, None])[:, 0]
    if against is not None:
        logits = logits - all_logits[:, against]
    # the projection is linear, but for a bias that it may have
    last = values[f"decoder.layers.{model.config.decoder.N - 1}.feed_forward_norm.hook_normalised"]
    biases = logits - (last * direction).sum(-1)

    heads: dict[DecoderKind, list[Tensor]] = {"decoder_self": [], "cross": []}
    feed_forward: list[Tensor] = []
    for kind, layer, name in reversed(sublayers):
        norm = model.get_submodule(f"{name}_norm.norm")
        assert isinstance(norm, nn.LayerNorm)
        biases = biases + direction @ norm.bias
        # pulled back through the linearised norm of what it reads
        added = values[f"{name}_norm.hook_sum"]
        deviation = (added.var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
        direction = direction * norm.weight / deviation
        direction = direction - direction.mean(-1, keepdim=True)
        whole = (values[f"{name}_norm.hook_sublayer"] * direction).sum(-1)  # [target]
        if kind is None:
            feed_forward.append(whole)
        else:
            W_O = head_W_O(model, kind, layer)
            # the direction as each head's z sees it: no vector of d_model for each head
            seen = torch.einsum("td,dhv->htv", direction, W_O)
            by_head = (values[f"{name}.hook_z"] * seen).sum(-1)  # [head, target]
            heads[kind].append(by_head)
            biases = biases + whole - by_head.sum(0)
    return DirectLogits(
        heads={kind: to_array(torch.stack(layers[::-1])) for kind, layers in heads.items()},
        feed_forward=to_array(torch.stack(feed_forward[::-1])),
        tokens=to_array((values["decoder.embedding.hook_tokens"] * direction).sum(-1)),
        positions=to_array((values["decoder.embedding.hook_positions"] * direction).sum(-1)),
        biases=to_array(biases),
        logits=to_array(logits),
    )
