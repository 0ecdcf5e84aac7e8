"""The residual stream at one place as the sum of what each part of the model wrote into it.

In a post-norm model the stream itself passes through every Add & norm (§3.1). With the mean and the
variance that each norm has on this sentence held fixed, a norm is affine. So the stream is exactly
a sum: token, position, each head, each feed-forward network, and biases, each carried through all
norms after it (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits").
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from transformer.analysis.heads.head import Head
from transformer.analysis.lenses.decomposition import head_W_O
from transformer.analysis.teacher_forcing import Cache
from transformer.choices import check_choices
from transformer.kinds import KIND_NAMES, Kind
from transformer.model import Transformer

StackName: TypeAlias = Literal["encoder", "decoder"]
Part: TypeAlias = Literal["token", "position", "biases", "head", "feed-forward"]

TOKEN, POSITION, BIASES = range(3)
"""Places of the first three writers of every stream."""

_SUBLAYERS: dict[StackName, tuple[tuple[Kind | None, str], ...]] = {
    "encoder": (("encoder_self", "self_attention"), (None, "feed_forward")),
    "decoder": (
        ("decoder_self", "self_attention"),
        ("cross", "cross_attention"),
        (None, "feed_forward"),
    ),
}
"""Sub-layers of a layer of each stack, in the order in which they run, by the attention's kind."""


class Writer(NamedTuple):
    """A part of the model that adds a vector to the residual stream; layers count from 0."""

    stack: StackName
    part: Part
    layer: int | None = None  # of a head or a feed-forward network
    head: Head | None = None

    @property
    def title(self) -> str:
        """The writer as the screen names it: `token`, `encoder L1 H3`, `L2 feed-forward`."""
        if self.head is not None:
            kind, layer, head = self.head
            return f"{KIND_NAMES[kind]} L{layer + 1} H{head + 1}"
        return self.part if self.layer is None else f"{self.stack} L{self.layer + 1} {self.part}"


class Sublayer(NamedTuple):
    """One sub-layer of a stack with its Add & norm."""

    name: str  # of its module
    kind: Kind | None  # of attention; None of a feed-forward network
    layer: int


@dataclass(frozen=True, eq=False)
class Stream:
    """The residual stream at some positions, by writer; the parts sum to what is read there."""

    writers: tuple[Writer, ...]
    parts: Tensor  # `[writer, position, d_model]`


@check_choices
def sublayers(model: Transformer, stack: StackName, end: int | None = None) -> list[Sublayer]:
    """List the sub-layers of a stack in the order in which they run, up to `end`."""
    count = (model.config if stack == "encoder" else model.config.decoder).N
    return [
        Sublayer(f"{stack}.layers.{layer}.{name}", kind, layer)
        for layer in range(count)
        for kind, name in _SUBLAYERS[stack]
    ][:end]


@check_choices
def query_stream(kind: Kind, layer: int) -> tuple[StackName, int]:
    """Return the stack whose stream the queries of a layer read, and after how many sub-layers."""
    if kind == "encoder_self":
        return "encoder", 2 * layer
    return "decoder", 3 * layer + (kind == "cross")


@check_choices
def key_stream(model: Transformer, kind: Kind, layer: int) -> tuple[StackName, int]:
    """Return the same of keys and values: those of cross-attention read the encoder's output."""
    return ("encoder", 2 * model.config.N) if kind == "cross" else query_stream(kind, layer)


@check_choices
def stream_points(model: Transformer, stack: StackName, end: int | None = None) -> set[str]:
    """Name the hook points that `stream_of` reads."""
    names = {f"{stack}.embedding.hook_{point}" for point in ("tokens", "positions")}
    for name, kind, _ in sublayers(model, stack, end):
        names |= {f"{name}_norm.hook_sublayer", f"{name}_norm.hook_sum"}
        if kind is not None:
            names.add(f"{name}.hook_z")
    return names


@check_choices
def stream_of(
    model: Transformer,
    cache: Cache,
    stack: StackName,
    end: int | None = None,
    positions: list[int] | slice = slice(None),
) -> Stream:
    """Take the stream after `end` sub-layers apart, at some positions of one sentence."""

    def at(point: str) -> Tensor:
        return cache[point][0][..., positions, :]

    token, position = (at(f"{stack}.embedding.hook_{name}") for name in ("tokens", "positions"))
    writers = [Writer(stack, part) for part in ("token", "position", "biases")]
    parts = torch.stack((token, position.expand_as(token), torch.zeros_like(token)))
    for sublayer in sublayers(model, stack, end):
        added = at(f"{sublayer.name}_norm.hook_sublayer")
        if sublayer.kind is None:
            writers.append(Writer(stack, "feed-forward", sublayer.layer))
            written = added[None]
        else:
            kind, layer = sublayer.kind, sublayer.layer
            heads = range(model.config.stack(kind).h)
            writers += [Writer(stack, "head", layer, Head(kind, layer, head)) for head in heads]
            z, W_O = at(f"{sublayer.name}.hook_z"), head_W_O(model, kind, layer)
            written = torch.einsum("hpv,dhv->hpd", z, W_O)
            parts[BIASES] += added - written.sum(0)
        norm = norm_of(model, sublayer)
        parts = linearise_norm(
            norm, at(f"{sublayer.name}_norm.hook_sum"), torch.cat((parts, written))
        )
        parts[BIASES] += norm.bias
    return Stream(tuple(writers), parts.detach())


def norm_of(model: Transformer, sublayer: Sublayer) -> nn.LayerNorm:
    """Return the norm after a sub-layer."""
    norm = model.get_submodule(f"{sublayer.name}_norm.norm")
    assert isinstance(norm, nn.LayerNorm)
    return norm


def linearise_norm(norm: nn.LayerNorm, added: Tensor, parts: Tensor) -> Tensor:
    """Carry parts, `[..., position, d_model]`, through a norm whose deviation is that of `added`.

    The norm's own bias is not part of the result.
    """
    deviation = (added.var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
    return (parts - parts.mean(-1, keepdim=True)) * (norm.weight / deviation)
