"""Multi-head attention: one head as matrices, one product for all, one head for all (§3.2.2)."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from transformer import choices, hooks, kinds
from transformer.arrays import AnyFloats, Floats
from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.paper.arithmetic import SublayerValues


class HeadMatrices(NamedTuple):
    """Scaled dot-product attention of one head for all queries at once (§3.2.1, Figure 2)."""

    Q: Floats  # `[query, d_k]`
    K: Floats  # `[key, d_k]`
    V: Floats  # `[key, d_v]`
    dots: Floats  # `[query, key]`, QKᵀ
    scaled: Floats  # the same ÷ √d_k
    masked: Floats  # the same with -∞ where the mask is False
    weights: Floats  # its softmax
    Z: Floats  # `[query, d_v]`, the weights · V


def head_matrices(values: SublayerValues, head: int) -> HeadMatrices:
    """Select the matrices of one head from a pass of the model."""
    q, k, v = (x[head].astype(np.float64) for x in (values.q, values.k, values.v))
    dots = q @ k.T
    scaled = dots / np.sqrt(q.shape[-1])
    masked = np.where(values.seen, scaled, -np.inf)
    weights, z = (x[head].astype(np.float64) for x in (values.weights, values.z))
    return HeadMatrices(q, k, v, dots, scaled, masked, weights, z)


def concat(heads: AnyFloats) -> AnyFloats:
    """Put the vectors of `[head, position, width]` side by side, `[position, head · width]`."""
    return heads.swapaxes(0, 1).reshape(heads.shape[1], -1)


class ProjectionTimes(NamedTuple):
    """Seconds of the projection to the queries of all heads, computed both ways."""

    together: float  # one product with `[d_model, h · d_k]`
    separate: float  # h products with `[d_model, d_k]`, one after the other


@torch.inference_mode()
def projection_times(
    model: Transformer, kind: kinds.Kind, layer: int, x: npt.ArrayLike, seconds: float = 0.1
) -> ProjectionTimes:
    """Time one large product against h small ones on `[query, d_model]`; medians over `seconds`."""
    attention: Any = model.get_submodule(kinds.attention_name(kind, layer))
    rows = torch.as_tensor(np.asarray(x)).to(attention.W_Q.weight)
    large = attention.W_Q.weight.T.contiguous()  # [d_model, head · d_k]
    small = [part.contiguous() for part in large.chunk(attention.h, dim=1)]
    times: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        _ = rows @ large
        middle = time.perf_counter()
        _ = [rows @ part for part in small]
        times.append((middle - begin, time.perf_counter() - middle))
    return ProjectionTimes(*map(float, np.median(times, axis=0)))


def one_head(config: TransformerConfig) -> TransformerConfig:
    """Return the configuration with one head as wide as all heads together, row (A) of Table 3."""
    h = config.h
    return replace(config, h=1, decoder_h=None, d_k=h * config.d_k, d_v=h * config.d_v)


def attention_operations(config: TransformerConfig, queries: int, keys: int) -> int:
    """Count the multiplications of one attention sub-layer: its products of matrices alone."""
    d, d_k, d_v = config.d_model, config.h * config.d_k, config.h * config.d_v
    projections = queries * d * (d_k + d_v) + keys * d * (d_k + d_v)
    return projections + queries * keys * (d_k + d_v)


@choices.check_choices
def average_heads(kind: kinds.Kind, layers: Sequence[int]) -> dict[str, hooks.Hook]:
    """Make the hooks that give each head of some layers the mean of its layer's patterns."""

    def average(pattern: torch.Tensor, _name: str) -> torch.Tensor:
        return pattern.mean(1, keepdim=True).expand_as(pattern)  # [batch, head, query, key]

    return {f"{kinds.attention_name(kind, layer)}.hook_pattern": average for layer in layers}
