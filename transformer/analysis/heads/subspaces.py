"""Overlap of the subspaces that two heads of one layer read and write (§3.2.2)."""

import torch
from torch import Tensor

from transformer import kinds
from transformer.arrays import Singles
from transformer.model import Transformer


@torch.inference_mode()
def subspace_overlaps(model: Transformer, kind: kinds.Kind, layer: int) -> dict[str, Singles]:
    """Compute the mean squared cosine of the principal angles between heads, `[head, head]`.

    Each head reads the residual stream through the rows of its W_Q, W_K and W_V, and writes the
    columns of its W_O: the results are named Q, K, V and O. 1 is the same subspace of d_model
    dimensions; 0, none in common; `random_overlap`, what random ones of this width have.
    """
    attention = model.get_submodule(kinds.attention_name(kind, layer))
    h = model.config.stack(kind).h
    matrices: dict[str, Tensor] = {  # [head * width, d_model]
        name: attention.get_parameter(f"W_{name}.weight") for name in "QKVO"
    }
    matrices["O"] = matrices["O"].T
    overlaps = {}
    for name, matrix in matrices.items():
        heads = matrix.double().reshape(h, -1, matrix.size(1))  # [head, width, d_model]
        bases = torch.linalg.qr(heads.mT).Q  # [head, d_model, width]
        width = bases.size(-1)
        side_by_side = bases.mT.reshape(h * width, -1)  # one product for all pairs
        cosines = (side_by_side @ side_by_side.T).view(h, width, h, width)
        overlap = cosines.square().sum((1, 3)) / width
        overlaps[name] = overlap.float().cpu().numpy()
    return overlaps


def random_overlap(width: int, d_model: int) -> float:
    """Return the mean overlap of two random subspaces of `width` dimensions."""
    return min(1.0, width / d_model)
