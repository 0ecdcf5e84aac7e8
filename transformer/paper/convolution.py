"""The feed-forward network as two convolutions with kernel size 1 (§3.3)."""

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional as F

from transformer.arrays import Singles
from transformer.layers import ACTIVATIONS, FeedForward


@torch.inference_mode()
def by_convolutions(network: FeedForward, x: npt.ArrayLike) -> Singles:
    """Apply the network to `[position, d_model]` by two convolutions along the positions."""
    first, second = network.W_1, network.W_2
    channels = torch.as_tensor(np.asarray(x)).to(first.weight).T[None]  # [1, d_model, position]
    hidden = F.conv1d(channels, first.weight[..., None], first.bias)
    hidden = ACTIVATIONS[network.activation](hidden)
    return F.conv1d(hidden, second.weight[..., None], second.bias)[0].T.float().cpu().numpy()
