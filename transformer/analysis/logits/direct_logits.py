"""Direct logit attribution: what each head adds to a logit by way of the residual stream.

The decoder's output is what its embeddings, heads, feed-forward networks and biases add to the
residual stream, each passed through the norms of all later sub-layers. With the mean and the
variance of these held fixed they are linear, and so the logit is a sum (Elhage et al. 2021, "A
Mathematical Framework for Transformer Circuits"; here for a post-norm model, where the stream
itself passes through every norm).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor

from transformer.analysis.lenses.decomposition import head_W_O
from transformer.analysis.teacher_forcing import (
    Array,
    ForcedPair,
    forced_pair,
    to_array,
    values_at,
)
from transformer.errors import InputError
from transformer.layers import AddAndNorm
from transformer.model import Transformer
from transformer.trace import AttentionTrace

DecoderKind: TypeAlias = Literal["decoder_self", "cross"]
"""The kinds whose output is added to the stream that ends in the logits."""


@dataclass(frozen=True, eq=False)
class DirectLogits:
    """One number at each step, such as a logit, as the sum of what was added to the stream.

    Args:
        heads: `[layer, head, target]` of each kind of the decoder, signed.
        feed_forward: `[layer, target]`, each feed-forward network.
        tokens: `[target]`, the embedding of the token that is read (§3.4).
        positions: `[target]`, the encoding of its position (§3.5).
        biases: `[target]`, of all norms, of the attention's and the vocabulary's projection;
            those of the values are part of what the heads add.
        logits: `[target]`, the number itself, which all of these add up to.
    """

    heads: dict[DecoderKind, Array]
    feed_forward: Array
    tokens: Array
    positions: Array
    biases: Array
    logits: Array


@torch.inference_mode()
def direct_logits(
    model: Transformer, trace: AttentionTrace, against: Tensor | None = None
) -> DirectLogits:
    """Compute the contribution of each head to the logit of each written piece.

    Where token ids `[target]` are given as `against`, the difference of the two logits is taken
    apart, which is the logarithm of the odds.

    Raises:
        InputError: if the trace does not fit the model, or an id of `against` its vocabulary.
    """
    pair = forced_pair(model, trace)
    direction = model.shared_embedding[pair.written]  # [target, d_model]
    if against is not None:
        against = _require_ids(model, against, pair)
        direction = direction - model.shared_embedding[against]
    sublayers = list(_sublayers(model))
    names = {point for sublayer in sublayers for point in sublayer.points}
    names |= {f"decoder.embedding.hook_{point}" for point in ("tokens", "positions")}
    all_logits, cache = values_at(model, pair, names)
    values = {name: value[0] for name, value in cache.items()}

    logits = all_logits.gather(-1, pair.written[:, None])[:, 0]
    if against is not None:
        logits = logits - all_logits.gather(-1, against[:, None])[:, 0]
    # the projection is linear, but for a bias that it may have
    last = values[f"decoder.layers.{model.config.N - 1}.feed_forward_norm.hook_normalised"]
    biases = logits - (last * direction).sum(-1)

    heads: dict[DecoderKind, list[Tensor]] = {"decoder_self": [], "cross": []}
    feed_forward: list[Tensor] = []
    for sublayer in reversed(sublayers):
        biases = biases + direction @ sublayer.add_and_norm.norm.bias
        direction = _before_norm(direction, values[sublayer.added], sublayer.add_and_norm)
        whole = (values[sublayer.output] * direction).sum(-1)  # [target]
        if sublayer.kind is None:
            feed_forward.append(whole)
        else:
            W_O = head_W_O(model, sublayer.kind, sublayer.layer)
            # the direction as each head's z sees it: no vector of d_model for each head
            seen = torch.einsum("td,dhv->htv", direction, W_O)
            by_head = (values[sublayer.z] * seen).sum(-1)  # [head, target]
            heads[sublayer.kind].append(by_head)
            biases = biases + whole - by_head.sum(0)
    return DirectLogits(
        heads={kind: to_array(torch.stack(layers[::-1])) for kind, layers in heads.items()},
        feed_forward=to_array(torch.stack(feed_forward[::-1])),
        tokens=to_array((values["decoder.embedding.hook_tokens"] * direction).sum(-1)),
        positions=to_array((values["decoder.embedding.hook_positions"] * direction).sum(-1)),
        biases=to_array(biases),
        logits=to_array(logits),
    )


class _Sublayer(NamedTuple):
    """One sub-layer of the decoder; `kind` is None for a feed-forward network."""

    kind: DecoderKind | None
    layer: int
    name: str
    add_and_norm: AddAndNorm

    @property
    def z(self) -> str:
        return f"{self.name}.hook_z"

    @property
    def output(self) -> str:
        return f"{self.name}_norm.hook_sublayer"

    @property
    def added(self) -> str:
        return f"{self.name}_norm.hook_sum"

    @property
    def points(self) -> tuple[str, ...]:
        read = (self.output, self.added, f"{self.name}_norm.hook_normalised")
        return read if self.kind is None else (*read, self.z)


_PARTS: tuple[tuple[DecoderKind | None, str], ...] = (
    ("decoder_self", "self_attention"),
    ("cross", "cross_attention"),
    (None, "feed_forward"),
)


def _sublayers(model: Transformer) -> Iterator[_Sublayer]:
    """Yield the sub-layers of the decoder, in the order in which they run."""
    for layer in range(model.config.N):
        for kind, part in _PARTS:
            name = f"decoder.layers.{layer}.{part}"
            add_and_norm = model.get_submodule(f"{name}_norm")
            assert isinstance(add_and_norm, AddAndNorm)
            yield _Sublayer(kind, layer, name, add_and_norm)


def _before_norm(direction: Tensor, added: Tensor, add_and_norm: AddAndNorm) -> Tensor:
    """Pull a direction back through the linearised norm.

    Both are `[target, d_model]`; `added` is what the norm reads.
    """
    norm = add_and_norm.norm
    deviation = (added.var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
    scaled = direction * norm.weight / deviation
    return scaled - scaled.mean(-1, keepdim=True)


def _require_ids(model: Transformer, ids: Tensor, pair: ForcedPair) -> Tensor:
    if ids.shape != pair.written.shape or ids.is_floating_point():
        raise InputError(
            f"There are {len(pair.written)} written pieces: give as many ids to compare them with."
        )
    if not ((ids >= 0) & (ids < model.config.vocab_size)).all():
        raise InputError(
            f"An id to compare with is no piece of this model: choose from 0 to "
            f"{model.config.vocab_size - 1:,}."
        )
    return ids.to(pair.written)
