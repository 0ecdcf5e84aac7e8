"""What speaks for a piece, in float64 and by other ways than the library's.

Slopes are taken by differences, with one run of the model for each head: no backward pass. Direct
logits go forward: each part of the residual stream is put through all later norms, with their
deviations held. A layer is read by a decoder that ends with it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from benchmarks.sentences.facts import KINDS, Facts, Floats
from transformer import Kind, Transformer
from transformer.config import BOS
from transformer.decoding import NEVER_WRITTEN
from transformer.hooks import Hook
from transformer.kinds import attention_name
from transformer.layers import AddAndNorm

_STEP = 1e-4  # of a difference: errors of 1e-8 in nats
SUBLAYERS = ("self_attention", "cross_attention", "feed_forward")


@lru_cache(maxsize=1)
def doubled(model: Transformer) -> Transformer:
    """The same model in float64."""
    return copy.deepcopy(model).double()


def others_by_probability(facts: Facts, step: int) -> list[int]:
    """The pieces that a search could have written instead, the most probable first."""
    row = facts.log_p(facts.target)[step].copy()
    row[[*NEVER_WRITTEN, facts.target[step]]] = -np.inf
    found: list[int] = np.argsort(-row)[: len(row) - len(NEVER_WRITTEN) - 1].tolist()
    return found


def least_certain_step(facts: Facts) -> int:
    """The step at which the best other piece comes nearest to the one that was written."""
    log_p = facts.log_p(facts.target)
    ahead = [
        log_p[step, written] - log_p[step, others_by_probability(facts, step)[0]]
        for step, written in enumerate(facts.target)
    ]
    return int(np.argmin(ahead))


def slopes(facts: Facts, step: int, other: int) -> dict[Kind, Floats]:
    """What the log-odds gain where the z of one head grows by a part of itself, `[layer, head]`.

    That is gradient × z, and so gradient × value over all keys.
    """
    N, h = facts.config.N, facts.config.h
    found: dict[Kind, Floats] = {}
    for kind in KINDS.values():
        layers = []
        for layer in range(N):
            factors = torch.ones(2 * h, h, 1, 1, dtype=torch.double)
            for head in range(h):
                factors[head, head], factors[h + head, head] = 1 + _STEP, 1 - _STEP

            def scale(z: Tensor, _name: str, factors: Tensor = factors) -> Tensor:
                return z * factors

            name = f"{attention_name(kind, layer)}.hook_z"
            odds = _log_odds(facts, step, other, 2 * h, {name: scale})
            layers.append((odds[:h] - odds[h:]) / (2 * _STEP))
        found[kind] = np.stack(layers)
    return found


@torch.inference_mode()
def _log_odds(facts: Facts, step: int, other: int, rows: int, edits: Mapping[str, Hook]) -> Floats:
    """Log P(written) − log P(other) in each of several runs of one sentence, `[row]`."""
    model = doubled(facts.model)
    target = torch.tensor([[BOS, *facts.target[:step]]]).expand(rows, -1)
    with model.hooks(edits):
        logits = model(torch.tensor([facts.source]).expand(rows, -1), target)[:, -1]
    odds: Floats = (logits[:, facts.target[step]] - logits[:, other]).numpy()
    return odds


@torch.inference_mode()
def direct(facts: Facts, step: int, direction: Tensor) -> dict[str, Floats]:
    """What each head brings along a direction at the decoder's end, `[layer, head]`.

    Args:
        direction: `[d_model]`.

    Returns:
        By "decoder_self" and "cross".
    """
    model, config = doubled(facts.model), facts.config
    kinds = {"self_attention": "decoder_self", "cross_attention": "cross"}
    _, seen = model.run_with_cache(
        torch.tensor([facts.source]), torch.tensor([[BOS, *facts.target[:-1]]])
    )
    found = {kind: np.zeros((config.N, config.h)) for kind in kinds.values()}
    for at, (layer, part) in enumerate(_parts(config.N)):
        if part not in kinds:
            continue
        name = f"decoder.layers.{layer}.{part}"
        z = seen[f"{name}.hook_z"][0, :, step]  # [head, d_v]
        W_O = model.get_submodule(f"{name}.W_O").weight
        assert isinstance(W_O, Tensor)
        width = z.size(-1)
        for head in range(config.h):
            brought = W_O[:, head * width : (head + 1) * width] @ z[head]  # [d_model]
            for later, sublayer in list(_parts(config.N))[at:]:
                norm_name = f"decoder.layers.{later}.{sublayer}_norm"
                module = model.get_submodule(norm_name)
                assert isinstance(module, AddAndNorm)
                added = seen[f"{norm_name}.hook_sum"][0, step]
                deviation = (((added - added.mean()) ** 2).mean() + module.norm.eps) ** 0.5
                brought = (brought - brought.mean()) / deviation * module.norm.weight
            found[kinds[part]][layer, head] = float(brought @ direction)
    return found


def _parts(N: int) -> Iterator[tuple[int, str]]:
    for layer in range(N):
        for part in SUBLAYERS:
            yield layer, part


def output_matrix(facts: Facts) -> Tensor:
    """`[vocab, d_model]`, in float64."""
    return doubled(facts.model).shared_embedding.detach()


@torch.inference_mode()
def logits(facts: Facts) -> Floats:
    """`[step, vocab]`, in float64."""
    target = torch.tensor([[BOS, *facts.target[:-1]]])
    values: Floats = doubled(facts.model)(torch.tensor([facts.source]), target)[0].numpy()
    return values


@torch.inference_mode()
def read_after(facts: Facts, layer: int) -> Floats:
    """Probabilities that a decoder of so many layers more than one would give, `[step, vocab]`."""
    model = doubled(facts.model)
    short = copy.copy(model)
    short._modules = dict(model._modules)
    decoder = copy.copy(model.decoder)
    decoder._modules = dict(model.decoder._modules)
    decoder.layers = model.decoder.layers[: layer + 1]
    short.decoder = decoder
    target = torch.tensor([[BOS, *facts.target[:-1]]])
    values: Floats = short(torch.tensor([facts.source]), target)[0].softmax(-1).numpy()
    return values
