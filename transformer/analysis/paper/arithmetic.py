"""One query position in one head: every value between x and the residual stream (§3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from transformer.analysis.lenses.decomposition import residual_point
from transformer.analysis.teacher_forcing import forced_pair
from transformer.errors import HookError
from transformer.hooks import Hook
from transformer.kinds import Kind, attention_name
from transformer.model import Transformer
from transformer.trace import AttentionTrace

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SublayerValues:
    """Input, intermediate values and output of one attention sub-layer, for one sentence pair.

    Args:
        x: `[query, d_model]`, the residual stream, from which the queries are projected.
        memory: `[key, d_model]`, from which keys and values are projected: x again, or the
            encoder's output.
        q: `[head, query, d_k]`.
        k: `[head, key, d_k]`.
        v: `[head, key, d_v]`.
        seen: `[query, key]`, the mask, True where seen.
        scores: `[head, query, key]`, as they enter the softmax, -∞ where masked.
        weights: `[head, query, key]`.
        z: `[head, query, d_v]`.
        results: `[head, query, d_model]`, what each head adds to the output.
        output: `[query, d_model]`, the sum of the results, and the bias of W^O if there is one.
        added: `[query, d_model]`, x + output.
        normalised: `[query, d_model]`, what the next sub-layer reads.
    """

    x: Floats
    memory: Floats
    q: Floats
    k: Floats
    v: Floats
    seen: npt.NDArray[np.bool_]
    scores: Floats
    weights: Floats
    z: Floats
    results: Floats
    output: Floats
    added: Floats
    normalised: Floats


@torch.inference_mode()
def sublayer_values(
    model: Transformer,
    trace: AttentionTrace,
    kind: Kind,
    layer: int,
    edits: Mapping[str, Hook] | None = None,
) -> SublayerValues:
    """Run the model over a sentence pair and keep all of one attention sub-layer.

    The layer counts from 0; `edits` are hooks that change the pass, such as `rescale`.

    Raises:
        HookError: if there is no such layer.
        InputError: if the trace does not fit the model.
    """
    if not 0 <= layer < model.config.N:
        raise HookError(f"There is no layer {layer}: the model has {model.config.N}, from 0.")
    module = attention_name(kind, layer)
    x, memory = residual_point(kind, layer), _key_input(kind, layer, model.config.N)
    pair = forced_pair(model, trace)
    with model.hooks(edits or {}):
        _, cache = model.run_with_cache(
            pair.source,
            pair.target,
            names=lambda name: name.startswith(module) or name in (x, memory),
        )
    point = f"{module}.hook_"
    norm = f"{module}_norm.hook_"
    pattern = cache[f"{point}pattern"]
    mask = cache[f"{point}mask"]
    return SublayerValues(
        x=_array(cache[x]),
        memory=_array(cache[memory]),
        q=_array(cache[f"{point}q"]),
        k=_array(cache[f"{point}k"]),
        v=_array(cache[f"{point}v"]),
        seen=mask.expand_as(pattern)[0, 0].cpu().numpy(),
        scores=_array(cache[f"{point}attn_scores"]),
        weights=_array(pattern),
        z=_array(cache[f"{point}z"]),
        results=_array(cache[f"{point}result"]),
        output=_array(cache[f"{norm}sublayer"]),
        added=_array(cache[f"{norm}sum"]),
        normalised=_array(cache[f"{norm}normalised"]),
    )


def _key_input(kind: Kind, layer: int, N: int) -> str:
    """Name the hook point from whose value keys and values are projected."""
    return residual_point("encoder_self", N) if kind == "cross" else residual_point(kind, layer)


def _array(value: Tensor) -> Floats:
    """Convert the only sentence of a batch to float32."""
    array: Floats = value[0].float().cpu().numpy()
    return array


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """One query position in one head.

    Args:
        x: `[d_model]`, the vector from which the query is projected.
        q: `[d_k]`.
        k: `[key, d_k]`.
        v: `[key, d_v]`.
        products: `[key, d_k]`, the terms of q·k.
        dots: `[key]`, q·k.
        scaled: `[key]`, q·k times the scale.
        seen: `[key]`, the row of the mask.
        weights: `[key]`, α, the softmax of what is seen.
        weighted: `[key, d_v]`, α_j v_j.
        z: `[d_v]`, their sum.
        concat: `[head, d_v]`, z of all heads, side by side.
        norms: `[head]`, Euclidean length of what each head adds to the output.
        result: `[d_model]`, what this head adds.
        others: `[d_model]`, what the other heads add, and the bias of W^O if there is one.
        added: `[d_model]`, x + the output of all heads.
        normalised: `[d_model]`, LayerNorm of it.
    """

    x: Floats
    q: Floats
    k: Floats
    v: Floats
    products: Floats
    dots: Floats
    scaled: Floats
    seen: npt.NDArray[np.bool_]
    weights: Floats
    weighted: Floats
    z: Floats
    concat: Floats
    norms: Floats
    result: Floats
    others: Floats
    added: Floats
    normalised: Floats


def arithmetic(values: SublayerValues, head: int, query: int, scale: float) -> Arithmetic:
    """Take the values of one row of one head; positions and heads count from 0.

    `scale` is the factor of q·k in the pass, 1/√d_k in the paper.
    """
    q, k, v = values.q[head, query], values.k[head], values.v[head]
    weights = values.weights[head, query]
    products = q * k
    dots = products.sum(-1, dtype=np.float64)
    result = values.results[head, query]
    return Arithmetic(
        x=values.x[query],
        q=q,
        k=k,
        v=v,
        products=products,
        dots=dots.astype(np.float32),
        scaled=(dots * scale).astype(np.float32),
        seen=values.seen[query],
        weights=weights,
        weighted=weights[:, None] * v,
        z=values.z[head, query],
        concat=values.z[:, query],
        norms=np.linalg.norm(values.results[:, query], axis=-1),
        result=result,
        others=values.output[query] - result,
        added=values.added[query],
        normalised=values.normalised[query],
    )
