"""One query position in one head: every value between x and the residual stream (§3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from transformer import choices, hooks, kinds
from transformer.analysis.lenses.decomposition import residual_point
from transformer.analysis.teacher_forcing import forced_pair, values_at
from transformer.arrays import Bools, Singles
from transformer.model import Transformer
from transformer.trace import AttentionTrace


@dataclass(frozen=True, eq=False)
class SublayerValues:
    """Input, intermediate values and output of one attention sub-layer, for one sentence pair."""

    x: Singles  # `[query, d_model]`, the residual stream, projected to the queries
    memory: Singles  # `[key, d_model]`, projected to keys and values: x, or the encoder's output
    q: Singles  # `[head, query, d_k]`
    k: Singles  # `[head, key, d_k]`
    v: Singles  # `[head, key, d_v]`
    seen: Bools  # `[query, key]`, the mask, True where seen
    scores: Singles  # `[head, query, key]`, as they enter the softmax, -∞ where masked
    weights: Singles  # `[head, query, key]`
    z: Singles  # `[head, query, d_v]`
    results: Singles  # `[head, query, d_model]`, what each head adds to the output
    output: Singles  # `[query, d_model]`, the sum of the results and the bias of W^O
    added: Singles  # `[query, d_model]`, x + output
    normalised: Singles  # `[query, d_model]`, what the next sub-layer reads


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
    choices.require_number("layer", layer, model.config.stack(kind).N)
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

    x: Singles  # `[d_model]`, the vector from which the query is projected
    q: Singles  # `[d_k]`
    k: Singles  # `[key, d_k]`
    v: Singles  # `[key, d_v]`
    products: Singles  # `[key, d_k]`, the terms of q·k
    dots: Singles  # `[key]`, q·k
    scaled: Singles  # `[key]`, q·k times the scale
    seen: Bools  # `[key]`, the row of the mask
    weights: Singles  # `[key]`, α, the softmax of what is seen
    weighted: Singles  # `[key, d_v]`, α_j v_j
    z: Singles  # `[d_v]`, their sum
    concat: Singles  # `[head, d_v]`, z of all heads, side by side
    norms: Singles  # `[head]`, Euclidean length of what each head adds to the output
    result: Singles  # `[d_model]`, what this head adds
    others: Singles  # `[d_model]`, what the other heads add, and the bias of W^O if there is one
    added: Singles  # `[d_model]`, x + the output of all heads
    normalised: Singles  # `[d_model]`, LayerNorm of it


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
