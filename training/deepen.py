"""From a small model to a deeper one that begins where the small one ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import nn

from transformer.model import Transformer


def deepened(given: Transformer, N: int) -> Transformer:
    """A model of N layers a stack that computes what `given` computes, to train on from there.

    After each layer come copies of it that add nothing yet: their W_O and W_2 are 0 (block
    expansion, arXiv 2401.02415, §3.2). In post-norm a copy then gives LayerNorm(x), which is x
    where x comes from a norm without scale and shift; those of the layer's last norm move to the
    last norm of its last copy. Not in the paper.

    Args:
        given: stays as it is.
        N: a multiple of its own.
    """
    times = N // given.config.N
    deep = Transformer(replace(given.config, N=N))
    weights = given.state_dict()
    deep.load_state_dict({name: weights[_origin(name, times)] for name in deep.state_dict()})
    for stack in (deep.encoder.layers, deep.decoder.layers):
        for first in range(0, N, times):
            _add_nothing(list(stack[first : first + times]))
    return deep


def _origin(name: str, times: int) -> str:
    """The weight that a weight of the deeper model begins as."""
    return re.sub(r"layers\.(\d+)", lambda at: f"layers.{int(at[1]) // times}", name)


@torch.no_grad()
def _add_nothing(layers: list[nn.Module]) -> None:
    """A layer and its copies, so that all together do what the layer did."""
    for copy in layers[1:]:
        for name, module in copy.named_modules():
            if name.endswith(("W_O", "W_2")):
                for weight in module.parameters():
                    weight.zero_()
    own, *further = (list(_norms(layer)) for layer in layers)
    for norm in [own[-1], *(norm for norms in further for norm in norms)][:-1]:
        norm.weight.fill_(1)
        norm.bias.zero_()


def _norms(layer: nn.Module) -> Iterator[nn.LayerNorm]:
    """Those of a layer in the order in which they are passed."""
    return (module for module in layer.modules() if isinstance(module, nn.LayerNorm))
