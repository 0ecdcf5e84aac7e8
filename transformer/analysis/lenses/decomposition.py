"""One attention sub-layer with its Add & norm as a sum of what each key brings to each query.

The output of a sub-layer is LayerNorm(x_i + b_O + Σ_h Σ_j α_ij f_h(x_j)) with
f_h(x) = (x W_V + b_V) W_O of head h (Kobayashi et al. 2020, §3); the biases are 0 where a model has
none, as in the paper. With the mean and the variance that the norm has on this sentence held fixed,
it is linear, and so a sum over the keys (Kobayashi et al. 2021, §3). The norms say how long the
vector is that a key brings.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer.analysis.lenses.names import Lens
from transformer.analysis.teacher_forcing import MAX_TENSOR_SIZE, Cache, LayerMeasure
from transformer.choices import check_choices
from transformer.kinds import Kind, attention_name
from transformer.model import Transformer

EDITED = 0.01  # a head's z that lies further from αV, relative to both, was replaced by a hook


@check_choices
@dataclass(frozen=True, eq=False)
class AttentionBlock:
    """One attention sub-layer and its Add & norm, for one sentence.

    Where a hook has replaced the z of a head, keys bring nothing through that head: its pattern
    is 0 here, and what was put in its place belongs to `constant`. All of
    `transformed`, `constant` after the same norm, and `bias` sum to `output`.
    """

    kind: Kind  # the kind of attention
    pattern: Tensor  # `[head, query, key]`, the weights α
    values: Tensor  # `[head, key, d_model]`, f_h(x_j) = v_j W_O
    residual: Tensor  # `[query, d_model]`, x_i
    sublayer: Tensor  # `[query, d_model]`, the output of the attention
    added: Tensor  # `[query, d_model]`, the sum before the norm
    output: Tensor  # `[query, d_model]`, after the norm
    gain: Tensor  # `[d_model]`, γ of the norm
    bias: Tensor  # `[d_model]`, β of the norm
    eps: float  # added to the variance, under the root

    @property
    def deviation(self) -> Tensor:
        """`[query, 1]`: √(variance + eps), by which the norm divides."""
        return (self.added.var(-1, correction=0, keepdim=True) + self.eps).sqrt()

    @property
    def seen(self) -> Tensor:
        """`[query, key]`: True where any head looks at the key at all."""
        return (self.pattern != 0).any(0)  # NaN must not pass for hidden

    @property
    def constant(self) -> Tensor:
        """`[query, d_model]`: what the attention adds that comes from no key, such as a bias."""
        z_W_O = torch.einsum("hqk,hkd->qd", self.pattern, self.values)
        return self.sublayer - z_W_O

    def from_keys(self, keys: slice = slice(None)) -> Tensor:
        """Compute Σ_h α_ij f_h(x_j), what keys bring to each query, `[query, key, d_model]`."""
        return torch.einsum("hqk,hkd->qkd", self.pattern[:, :, keys], self.values[:, keys])

    def transformed(self) -> Iterator[Tensor]:
        """Yield T_ij, the part of each key after the linearised norm, with x_i on the diagonal.

        `[query, key, d_model]` in chunks of the keys. In cross-attention, where no key is the
        query, x_i comes last as one more column.
        """
        for keys in self.chunks():
            parts = self.from_keys(keys)
            if self.kind != "cross":
                own = torch.arange(keys.start, keys.stop, device=parts.device)
                parts[own, own - keys.start] += self.residual[own]
            yield self.linearised(parts)
        if self.kind == "cross":
            yield self.linearised(self.residual[:, None])

    def linearised(self, x: Tensor) -> Tensor:
        """Apply the norm with its own mean and variance held fixed: γ (x − mean(x)) / deviation."""
        deviation = self.deviation.view(-1, *[1] * (x.dim() - 1))
        return (x - x.mean(-1, keepdim=True)) * (self.gain / deviation)

    def chunks(self) -> Iterator[slice]:
        """Yield slices of the keys, small enough that `from_keys` stays below `MAX_TENSOR_SIZE`."""
        keys = self.pattern.size(2)
        step = max(1, MAX_TENSOR_SIZE // self.residual.numel())
        yield from (slice(start, min(start + step, keys)) for start in range(0, keys, step))


def block_points(kind: Kind, layer: int) -> dict[str, str]:
    """Name the hook points that `block_of` reads, by the fields of the block."""
    name = attention_name(kind, layer)
    return {
        "pattern": f"{name}.hook_pattern",
        "v": f"{name}.hook_v",
        "z": f"{name}.hook_z",
        "residual": residual_point(kind, layer),
        "sublayer": f"{name}_norm.hook_sublayer",
        "added": f"{name}_norm.hook_sum",
        "output": f"{name}_norm.hook_normalised",
    }


def block_of(model: Transformer, cache: Cache, kind: Kind, layer: int) -> AttentionBlock:
    """Select one block from the values at the hook points of one sentence."""
    at = {part: cache[name][0] for part, name in block_points(kind, layer).items()}
    norm = model.get_submodule(f"{attention_name(kind, layer)}_norm.norm")
    assert isinstance(norm, nn.LayerNorm)
    pattern, v, z = (at.pop(part) for part in ("pattern", "v", "z"))
    pattern = pattern.to(v.dtype)
    attended = pattern @ v  # [head, query, d_v]
    apart, *sizes = (torch.linalg.vector_norm(x, dim=-1) for x in (z - attended, z, attended))
    replaced = apart > EDITED * (sizes[0] + sizes[1])  # [head, query]
    return AttentionBlock(
        kind=kind,
        pattern=pattern.masked_fill(replaced[..., None], 0),
        values=torch.einsum("hkv,dhv->hkd", v, head_W_O(model, kind, layer)),
        **at,
        gain=norm.weight.detach(),
        bias=norm.bias.detach(),
        eps=float(norm.eps),
    )


def points(model: Transformer, kind: Kind) -> set[str]:
    """Name the hook points that the blocks of all layers are taken from."""
    layers = range(model.config.stack(kind).N)
    return {name for layer in layers for name in block_points(kind, layer).values()}


def block_measure(block_values: Callable[[AttentionBlock], Tensor]) -> LayerMeasure:
    """Make the measure that applies a function to the block of each layer."""

    def layers(model: Transformer, cache: Cache, kind: Kind) -> Iterator[Tensor]:
        count = model.config.stack(kind).N
        return (block_values(block_of(model, cache, kind, n)) for n in range(count))

    return LayerMeasure(points, layers)


def head_W_O(model: Transformer, kind: Kind, layer: int) -> Tensor:
    """Split W_O by heads, `[d_model, head, d_v]` (§3.2.2)."""
    W_O = model.get_parameter(f"{attention_name(kind, layer)}.W_O.weight")
    return W_O.view(W_O.size(0), model.config.stack(kind).h, -1)


@check_choices
def residual_point(kind: Kind, layer: int) -> str:
    """Name the hook point that a sub-layer, from 0, reads; layer N is the output of the stack."""
    if kind == "cross":
        return f"decoder.layers.{layer}.self_attention_norm.hook_normalised"
    stack = kind.removesuffix("_self")
    if layer == 0:
        return f"{stack}.embedding.hook_sum"
    return f"{stack}.layers.{layer - 1}.feed_forward_norm.hook_normalised"


def norms_of_heads(block: AttentionBlock) -> Tensor:
    """Compute ‖α_ij f(x_j)‖₂, `[head, query, key]`, f as in `decomposition` (Kobayashi 2020)."""
    lengths: Tensor = torch.linalg.vector_norm(block.values, dim=-1)  # [head, key]
    return block.pattern * lengths[:, None]


def norms_of_heads_after_layer_norm(block: AttentionBlock) -> Tensor:
    """Compute the norms of `norms_of_heads` after the linearised LayerNorm (2021)."""
    # deviation is the query's alone: nothing of [query, key, d_model] is needed
    centred = block.values - block.values.mean(-1, keepdim=True)
    lengths: Tensor = torch.linalg.vector_norm(centred * block.gain, dim=-1)  # [head, key]
    return block.pattern * lengths[:, None] / block.deviation


def norms_of_layer(block: AttentionBlock) -> Tensor:
    """Compute ‖Σ_h α_ij f(x_j)‖₂, `[query, key]`: heads may cancel each other (2020)."""
    return _lengths(block.from_keys(keys) for keys in block.chunks())


def norms_of_layer_with_residual(block: AttentionBlock) -> Tensor:
    """Compute the norms of `norms_of_layer` after the linearised LayerNorm, x_i included (2021)."""
    return _lengths(block.transformed())


def _lengths(parts: Iterable[Tensor]) -> Tensor:
    """Compute norms `[query, key]` from `[query, key, d_model]` in chunks of the keys."""
    return torch.cat([torch.linalg.vector_norm(part, dim=-1) for part in parts], -1)


def without_residual(block_values: Callable[[AttentionBlock], Tensor]) -> LayerMeasure:
    """Drop the last column of each block of cross-attention, which is not a key."""
    return block_measure(
        lambda block: block_values(block)[..., : -1 if block.kind == "cross" else None]
    )


NORM = Lens(
    name="norm",
    title="norms",
    about="length of the vector that a head contributes from a token (Kobayashi et al. 2020)",
    shares="‖αf(x)‖",
    formula=r"$\lVert \alpha_{ij}\, f(x_j) \rVert_2$ with $f(x) = (x W^V + b^V) W^O$, the length "
    r"of what head and key bring to the residual stream (Kobayashi et al. 2020, §3.2)",
    function=norms_of_heads,
    measure=block_measure(norms_of_heads),
    has_heads=True,
    variant="of each head",
)
NORM_LAYER_NORM = Lens(
    name="norm_layer_norm",
    title="norms after LayerNorm",
    about="length of that vector after Add & norm (Kobayashi et al. 2021)",
    shares="‖αf(x)‖ after LayerNorm",
    formula=r"$\lVert \alpha_{ij}\, \mathrm{LN}(f(x_j)) \rVert_2$ with "
    r"$f(x) = (x W^V + b^V) W^O$, the length of what head and key bring to the output of Add & "
    r"norm, whose mean and deviation are held fixed (Kobayashi et al. 2021, §3)",
    function=norms_of_heads_after_layer_norm,
    measure=block_measure(norms_of_heads_after_layer_norm),
    has_heads=True,
    variant="after LayerNorm",
)
NORM_RESIDUAL = Lens(
    name="norm_residual",
    title="norms with residual and LayerNorm",
    about="length of the sum of all heads' vectors and the residual, after LayerNorm "
    "(Kobayashi et al. 2021)",
    shares="‖Σαf(x) + x‖ after LayerNorm",
    formula=r"$\lVert \mathrm{LN}(\textstyle\sum_h \alpha_{ij}\, f(x_j) + [i = j]\, x_i) \rVert_2$ "
    r"with $f(x) = (x W^V + b^V) W^O$, the length of what a key brings through all heads to the "
    r"output of Add & norm, whose mean and deviation are held fixed, with the residual on the "
    r"diagonal of self-attention; in cross-attention it is not drawn (Kobayashi et al. 2021, §3)",
    function=norms_of_layer_with_residual,
    measure=without_residual(norms_of_layer_with_residual),
    has_heads=False,
    without_residual=True,
    variant="with residual",
)
