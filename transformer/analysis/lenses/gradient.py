"""Gradients with respect to what happens inside attention, without a trace on the model."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer.analysis import teacher_forcing
from transformer.analysis.heads.importance import sentence_losses
from transformer.analysis.lenses.names import Lens
from transformer.arrays import AnyFloats
from transformer.kinds import KINDS, Kind
from transformer.model import Transformer
from transformer.trace import AttentionTrace


def gradient_times_attention(
    model: Transformer, trace: AttentionTrace, *, progress: teacher_forcing.Progress | None = None
) -> dict[Kind, AnyFloats]:
    """Compute A ⊙ ∂ log P(y|x) / ∂A, `[layer, head, query, key]` of each kind, in nats, signed.

    To first order, what log P of the whole translation would lose without this weight: a positive
    value speaks for what was written. All kinds come from one backward pass. It is the product that
    Hao et al. 2021 ("Self-Attention Attribution") integrate over scaled weights, and of which
    Chefer et al. 2021 ("Generic Attention-model Explainability") take the positive part.

    `progress` is called as the backward pass leaves each of the 3 N attention sub-layers.
    """

    def log_P(pair: teacher_forcing.ForcedPair) -> Tensor:
        return -sentence_losses(model, pair.source, pair.target, pair.written[None]).sum()

    return attention_products(
        model, teacher_forcing.forced_pair(model, trace), "pattern", log_P, progress
    )


def attention_products(
    model: Transformer,
    pair: teacher_forcing.ForcedPair,
    point: str,
    objective: Callable[[teacher_forcing.ForcedPair], Tensor],
    progress: teacher_forcing.Progress | None = None,
) -> dict[Kind, AnyFloats]:
    """Multiply a value in each attention by the gradient of a number, `[layer, head, ...]`."""
    names = {kind: model.attention_points(kind, point) for kind in KINDS}
    every = [name for row in names.values() for name in row]
    by_name = values_and_gradients(model, pair, every, objective, progress)
    return {
        kind: teacher_forcing.to_array(
            torch.cat([value * gradient for value, gradient in map(by_name.__getitem__, row)])
        )
        for kind, row in names.items()
    }


def values_and_gradients(
    model: Transformer,
    pair: teacher_forcing.ForcedPair,
    names: Sequence[str],
    objective: Callable[[teacher_forcing.ForcedPair], Tensor],
    progress: teacher_forcing.Progress | None = None,
) -> dict[str, tuple[Tensor, Tensor]]:
    """Compute the value at each hook point, and the gradient of a number with respect to it.

    The parameters are left as they are: no `.grad` is written, whether they require one or not,
    and it makes no difference whether the caller runs in inference mode.

    Later hook points may depend on earlier ones. `objective` runs the model and returns one number;
    `progress` is called as each gradient is known, that of the last point first.
    """
    values: dict[str, Tensor] = {}
    step = teacher_forcing.count_steps(progress, len(names))

    def watch(value: Tensor, name: str) -> Tensor:
        if not value.requires_grad:  # nothing before it is watched: the graph begins here
            value = value.detach().requires_grad_()
        values[name] = value
        value.register_hook(lambda _gradient: step())
        return value

    with torch.inference_mode(False), torch.enable_grad(), model.hooks(dict.fromkeys(names, watch)):
        # tensors that were made in inference mode cannot be part of a graph
        result = objective(teacher_forcing.ForcedPair(*(ids.clone() for ids in pair)))
        gradients = torch.autograd.grad(
            result, [values[name] for name in names], materialize_grads=True
        )
    return {
        name: (values[name].detach(), gradient)
        for name, gradient in zip(names, gradients, strict=True)
    }


GRADIENT = Lens(
    name="gradient",
    title="gradient × weights",
    about="roughly how much the log probability of the translation depends on a weight "
    "(after Hao et al. 2021)",
    shares="|gradient × weight|",
    formula=r"$|A \odot \partial \log P(y \mid x) / \partial A|$: what the log-probability of the "
    r"whole translation, later words included, would lose without this weight, to first "
    r"order, without its sign; Hao et al. (2021) integrate it over weights scaled from 0 to "
    r"1, here it is taken at the weights themselves",
    function=gradient_times_attention,
    measure=None,  # one backward pass has all kinds
    has_heads=True,
    signed=True,
)
