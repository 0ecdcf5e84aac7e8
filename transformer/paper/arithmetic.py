"""One query position in one head: every value between x and the residual stream (§3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from transformer import choices, errors, hooks, kinds
from transformer.analysis.lenses.decomposition import residual_point
from transformer.analysis.teacher_forcing import forced_pair, values_at
from transformer.model import Transformer
from transformer.trace import AttentionTrace

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SublayerValues:
    """Input, intermediate values and output of one attention sub-layer, for one sentence pair."""

    x: Floats  # `[query, d_model]`, the residual stream, projected to the queries
    memory: Floats  # `[key, d_model]`, projected to keys and values: x, or the encoder's output
    q: Floats  # `[head, query, d_k]`
    k: Floats  # `[head, key, d_k]`
    v: Floats  # `[head, key, d_v]`
    seen: npt.NDArray[np.bool_]  # `[query, key]`, the mask, True where seen
    scores: Floats  # `[head, query, key]`, as they enter the softmax, -∞ where masked
    weights: Floats  # `[head, query, key]`
    z: Floats  # `[head, query, d_v]`
    results: Floats  # `[head, query, d_model]`, what each head adds to the output
    output: Floats  # `[query, d_model]`, the sum of the results and the bias of W^O
    added: Floats  # `[query, d_model]`, x + output
    normalised: Floats  # `[query, d_model]`, what the next sub-layer reads


@choices.check_choices
@torch.inference_mode()
def sublayer_values(
    model: Transformer,
    trace: AttentionTrace,
    kind: kinds.Kind,
    layer: int,
    edits: Mapping[str, hooks.Hook] | None = None,
) -> SublayerValues:
    """Run the model, edited by hooks such as `rescale`, and keep all of one attention sub-layer."""
    count = model.config.stack(kind).N
    if not 0 <= layer < count:
        raise errors.HookError(f"There is no layer {layer}: the model has {count}, from 0.")
    module = kinds.attention_name(kind, layer)
    x = residual_point(kind, layer)
    points = {
        "x": x,
        # keys and values are projected from it
        "memory": residual_point("encoder_self", model.config.N) if kind == "cross" else x,
        "scores": f"{module}.hook_attn_scores",
        "weights": f"{module}.hook_pattern",
        "results": f"{module}.hook_result",
        "output": f"{module}_norm.hook_sublayer",
        "added": f"{module}_norm.hook_sum",
        "normalised": f"{module}_norm.hook_normalised",
        **{name: f"{module}.hook_{name}" for name in ("q", "k", "v", "z")},
    }
    mask = f"{module}.hook_mask"
    with model.hooks(edits or {}):
        _, cache = values_at(model, forced_pair(model, trace), {*points.values(), mask})
    arrays = {name: cache[point][0].float().cpu().numpy() for name, point in points.items()}
    seen = cache[mask].expand_as(cache[points["weights"]])[0, 0].cpu().numpy()
    return SublayerValues(**arrays, seen=seen)


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """One query position in one head."""

    x: Floats  # `[d_model]`, the vector from which the query is projected
    q: Floats  # `[d_k]`
    k: Floats  # `[key, d_k]`
    v: Floats  # `[key, d_v]`
    products: Floats  # `[key, d_k]`, the terms of q·k
    dots: Floats  # `[key]`, q·k
    scaled: Floats  # `[key]`, q·k times the scale
    seen: npt.NDArray[np.bool_]  # `[key]`, the row of the mask
    weights: Floats  # `[key]`, α, the softmax of what is seen
    weighted: Floats  # `[key, d_v]`, α_j v_j
    z: Floats  # `[d_v]`, their sum
    concat: Floats  # `[head, d_v]`, z of all heads, side by side
    norms: Floats  # `[head]`, Euclidean length of what each head adds to the output
    result: Floats  # `[d_model]`, what this head adds
    others: Floats  # `[d_model]`, what the other heads add, and the bias of W^O if there is one
    added: Floats  # `[d_model]`, x + the output of all heads
    normalised: Floats  # `[d_model]`, LayerNorm of it


def arithmetic(values: SublayerValues, head: int, query: int, scale: float) -> Arithmetic:
    """Select the values of one row of one head; `scale` is the factor of q·k in the pass."""
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
