"""Layer norm and batch norm of the same tensor: over which axes mean and variance are taken."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from transformer.analysis.teacher_forcing import TraceBatch
from transformer.config import PAD
from transformer.model import Transformer

Floats: TypeAlias = npt.NDArray[np.float64]
Marks: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class NormValues:
    """Input and output of one Add & norm of the model for a batch."""

    x: Floats  # `[sentence, position, d_model]`, the sum before the norm
    normalised: Floats  # the same shape, the output of the norm
    real: Marks  # `[sentence, position]`, False at padding
    gain: Floats  # `[d_model]`
    bias: Floats  # `[d_model]`
    eps: float  # added to the variance, under the root


@torch.inference_mode()
def norm_values(model: Transformer, batch: TraceBatch, name: str) -> NormValues:
    """Keep what one norm, such as `encoder.layers.0.self_attention_norm`, reads and writes.

    Raises:
        AttributeError: if the model has no such module.
    """
    norm = model.get_submodule(f"{name}.norm")
    assert isinstance(norm, nn.LayerNorm)
    points = {f"{name}.hook_sum", f"{name}.hook_normalised"}
    _, cache = model.run_with_cache(
        batch.source.to(model.device),
        batch.target.to(model.device),
        names=lambda point: point in points,
    )
    tokens = batch.source if name.startswith("encoder") else batch.target
    return NormValues(
        x=_float64(cache[f"{name}.hook_sum"]),
        normalised=_float64(cache[f"{name}.hook_normalised"]),
        real=(tokens != PAD).numpy(),
        gain=_float64(norm.weight),
        bias=_float64(norm.bias),
        eps=float(norm.eps),
    )


def layer_norm(x: Floats, eps: float) -> Floats:
    """Normalise each token: mean 0 and variance 1 over its features (Ba et al. 2016; §3.1)."""
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps)


def batch_norm(x: Floats, counts: Marks, eps: float) -> Floats:
    """Normalise each feature: mean 0 and variance 1 over the batch (Ioffe & Szegedy 2015).

    Mean and variance are taken over the tokens in `counts`, `[sentence, position]`, and all tokens
    are normalised by them; `eps` is added to the biased variance.
    """
    rows = x[counts]  # [token, d_model]
    return (x - rows.mean(0)) / np.sqrt(rows.var(0) + eps)


def deviations(x: Floats, counts: Marks) -> tuple[Floats, Floats]:
    """Compute the standard deviation of each token in `counts`, `[token]`, and of each feature."""
    rows = x[counts]
    return rows.std(1), rows.std(0)


def _float64(tensor: torch.Tensor) -> Floats:
    return tensor.detach().double().cpu().numpy()
