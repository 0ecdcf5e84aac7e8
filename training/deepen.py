"""From a small model to a deeper one that begins where the small one ended."""

from __future__ import annotations

import re

import torch
from torch import nn

from transformer.model import Transformer


def begin_from(given: Transformer, model: Transformer) -> None:
    """Give a model the weights of one that may be less deep, so that it computes the same.

    After each layer come copies of it that add nothing yet: their W_O and W_2 are 0 (block
    expansion, arXiv 2401.02415). In post-norm a copy then gives LayerNorm(x), which is x where x
    comes from a norm without scale and shift; those of the layer's last norm move to the last norm
    of its last copy. Not in the paper.

    Args:
        given: stays as it is.
        model: of the same shape, but that its N may be a multiple.
    """
    times = model.config.N // given.config.N
    weights = given.state_dict()
    model.load_state_dict({name: weights[_origin(name, times)] for name in model.state_dict()})
    for stack in (model.encoder.layers, model.decoder.layers):
        for first in range(0, len(stack), times):
            _add_nothing(list(stack[first : first + times]))


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
    # in the order in which they are passed, as many in each layer
    norms = [one for layer in layers for one in layer.modules() if isinstance(one, nn.LayerNorm)]
    last_of_the_first = len(norms) // len(layers) - 1
    for norm in norms[last_of_the_first:-1]:
        norm.weight.fill_(1)
        norm.bias.zero_()
