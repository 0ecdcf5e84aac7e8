"""Depth-scaled initialisation: the deeper a layer, the smaller its first weights."""

from __future__ import annotations

import math
import re

import torch
from torch import nn

from transformer.model import Transformer


@torch.no_grad()
def scale_by_depth(model: Transformer) -> None:
    """Divide each matrix of layer l by √l, l = 1 ... N, in both stacks.

    What a layer adds is then small beside what it is added to, and the gradient of a deep post-norm
    model does not vanish on its way down (Zhang, Titov and Sennrich 2019, §4, with α = 1; arXiv
    1908.11365). The paper does not say how its weights begin.
    """
    for stack in (model.encoder.layers, model.decoder.layers):
        for l, layer in enumerate(stack, start=1):  # noqa: E741, the symbol of the article
            for module in layer.modules():
                if isinstance(module, nn.Linear):
                    module.weight /= math.sqrt(l)


def initialise_from(given: Transformer, model: Transformer) -> None:
    """Copy the weights of a model into one that may be deeper, so that both compute the same.

    Each layer is followed by copies of it that add nothing yet: their W_O and W_2 are 0 (block
    expansion, arXiv 2401.02415). In post-norm a copy then gives LayerNorm(x), which is x where x
    comes from a norm without scale and shift; those of the layer's last norm move to the last norm
    of its last copy. Not in the paper.
    """
    times = model.config.N // given.config.N
    weights = given.state_dict()
    model.load_state_dict({name: weights[_source_name(name, times)] for name in model.state_dict()})
    for stack in (model.encoder.layers, model.decoder.layers):
        for first in range(0, len(stack), times):
            _neutralise_copies(list(stack[first : first + times]))


def _source_name(name: str, times: int) -> str:
    """Return the name of the source weight of a weight of the deeper model."""
    return re.sub(r"layers\.(\d+)", lambda at: f"layers.{int(at[1]) // times}", name)


@torch.no_grad()
def _neutralise_copies(layers: list[nn.Module]) -> None:
    """Make a layer and its copies together compute what the layer alone computed."""
    for copy in layers[1:]:
        for name, module in copy.named_modules():
            if name.endswith(("W_O", "W_2")):
                for weight in module.parameters():
                    weight.zero_()
    # in the order of computation, as many in each layer
    norms = [
        module for layer in layers for module in layer.modules() if isinstance(module, nn.LayerNorm)
    ]
    last_of_first_layer = len(norms) // len(layers) - 1
    for norm in norms[last_of_first_layer:-1]:
        norm.weight.fill_(1)
        norm.bias.zero_()
