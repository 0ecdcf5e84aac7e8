"""Depth-scaled initialisation: the deeper a layer, the smaller its first weights."""

import math

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
