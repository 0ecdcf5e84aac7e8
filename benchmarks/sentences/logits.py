"""Sentences on what speaks for a piece, in float64 and by other ways than the library's.

Slopes are taken by differences, with one run of the model for each head: no backward pass. Direct
logits go forward: each part of the residual stream is put through all later norms, with their
deviations held. A layer is read by a decoder that ends with it.
"""

import copy
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from benchmarks.sentences.facts import (
    KINDS,
    ROUNDING,
    Expected,
    Facts,
    Floats,
    Marked,
    extremes,
    head_title,
    number,
    signed,
)
from transformer import Kind, Transformer
from transformer.attention import MultiHeadAttention
from transformer.config import BOS
from transformer.decoding import NEVER_WRITTEN
from transformer.hooks import Hook
from transformer.kinds import attention_name
from transformer.layers import AddAndNorm
from viz.draw.labels import display_tokens

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
    order: list[int] = np.argsort(-row)[: len(row) - len(NEVER_WRITTEN) - 1].tolist()
    return order


def least_certain_step(facts: Facts) -> int:
    """The step at which the best other piece comes nearest to the one that was written."""
    log_p = facts.log_p(facts.target)
    ahead = [
        log_p[step, written] - log_p[step, others_by_probability(facts, step)[0]]
        for step, written in enumerate(facts.target)
    ]
    return int(np.argmin(ahead))


def slopes(facts: Facts, step: int, other: int) -> dict[Kind, Floats]:
    """Slopes of the log-odds as the z of one head grows by a part of itself, `[layer, head]`.

    That is gradient × z, and so gradient × value over all keys.
    """
    N, h = facts.config.N, facts.config.h
    gains: dict[Kind, Floats] = {}
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
        gains[kind] = np.stack(layers)
    return gains


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
    """Return each head's contribution along a direction, `[d_model]`, by kind: `[layer, head]`."""
    model, config = doubled(facts.model), facts.config
    kinds = {"self_attention": "decoder_self", "cross_attention": "cross"}
    _, seen = model.run_with_cache(*facts.inputs)
    products = {kind: np.zeros((config.N, config.h)) for kind in kinds.values()}
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
            products[kinds[part]][layer, head] = float(brought @ direction)
    return products


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
    values: Floats = doubled(facts.model)(*facts.inputs)[0].numpy()
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
    values: Floats = short(*facts.inputs)[0].softmax(-1).numpy()
    return values


_OFFERED, _NAMED, _MAX_ROWS = 6, 5, 40


def why(
    facts: Facts,
    kind_name: str,
    layer: int,
    head: int,
    step: int | None = None,
    by_logits: bool = False,
) -> Iterator[Expected]:
    """Compare with the most probable other piece, with one head open; layer, head and step from 0.

    The step is the least certain one unless given.
    """
    at, message = _shown_step(facts, step)
    yield from message
    others = others_by_probability(facts, at)
    other, log_p = others[0], facts.log_p(facts.target)[at]
    written, another = (_name(facts, piece) for piece in (facts.target[at], other))
    for piece in others[:_OFFERED]:
        yield f"{_name(facts, piece)} {probability(log_p[piece])}"
    odds = log_p[facts.target[at]] - log_p[other]
    yield (
        f"Probability {probability(log_p[facts.target[at]])} for “{written}”, "
        f"{probability(log_p[other])} for “{another}”. Log-odds, the logarithm of their ratio: "
        f"{signed(odds)} nats."
    )
    slope = slopes(facts, at, other)
    by_gradient = {n: slope[kind] for n, kind in KINDS.items()}
    matrix = output_matrix(facts)
    along = direct(facts, at, matrix[facts.target[at]] - matrix[other])
    by_logit = {n: along[kind] for n, kind in KINDS.items() if kind in along}
    yield from _heads(by_logit if by_logits else by_gradient, written, another)
    yield head_title(kind_name, layer, head)
    about = f"{signed(by_gradient[kind_name][layer, head])} nats by gradient × value"
    if kind_name in by_logit:
        about += f", {signed(by_logit[kind_name][layer, head])} by direct logits"
    yield f"{about}: above 0 it speaks for “{written}”, below for “{another}”."
    yield f"…Above 0 a subword speaks for “{written}”, below for “{another}”.…"
    if (count := len(facts.source)) > _MAX_ROWS:
        yield (f"You see the {_MAX_ROWS} largest of {count} subwords, in reading order.")


def _shown_step(facts: Facts, step: int | None) -> tuple[int, list[str]]:
    """Return the step itself where it exists, or the least certain one and what is said of it."""
    count = len(facts.target)
    if step is not None and step < count:
        return step, []
    at = least_certain_step(facts)
    if step is None:
        return at, []
    return at, [f"The translation has {count} steps and no step {step + 1}: this is step {at + 1}."]


def probability(log_p: float) -> str:
    """As the screen has it."""
    p = math.exp(log_p)
    return "< 0.01" if 0 < p < 0.005 else f"{p:.2f}"


def _name(facts: Facts, piece: int) -> str:
    (entry,) = facts.translator.tokenizer.pieces_of([piece])
    return display_tokens([entry.text, "▁"])[0]


def _heads(values: dict[str, Floats], own: str, another: str) -> Iterator[str]:
    """The sums, the colour, and the heads that speak most for either."""
    for kind_name, heads in values.items():
        yield f"● {kind_name} {signed(heads.sum())}"
    most = max(float(np.abs(heads).max()) for heads in values.values())
    yield (
        f"Purple speaks for “{own}”, olive for “{another}”; full colour: {most:.2f} nats. "
        "Number beside a kind: the sum of its heads."
    )
    every = [
        (float(heads[at]), head_title(kind_name, *at))
        for kind_name, heads in values.items()
        for at in np.ndindex(heads.shape)
    ]
    for name, sign in ((own, 1), (another, -1)):
        side = [(sign * value, head) for value, head in every if sign * value > 0]
        yield f"For “{name}”" if side else f"No head speaks for “{name}”."
        if side:
            for maybe, head, value in extremes(side, _NAMED):
                yield f"{maybe * (len(side) > _NAMED)}{head} {signed(sign * value)}"


_TOP = 5


def layers(facts: Facts, step: int | None = None) -> Iterator[Expected]:
    """With the heads of one step; from 0, the least certain one unless given."""
    at, message = _shown_step(facts, step)
    yield from message
    read = [read_after(facts, layer) for layer in range(facts.config.N)]
    yield from _table(facts, read)
    yield f"Step {at + 1} {facts.rows('cross')[at].removeprefix('the step that ')}"
    yield from _at_step(facts, read, at)
    yield from _sum(facts, at)


def from_encoder_layers(facts: Facts) -> Iterator[Expected]:
    """The translation from each encoder layer, whose keys and values cross-attention gets."""
    yield from layers(facts)
    N = facts.config.N
    for layer in range(N + 1):
        edits = _cross_keys_and_values(facts, layer)
        new = facts.translated(edits)
        yield Marked(new.text, facts.translation.text)
        count = len(new.best.hypothesis.tokens)
        pieces = f"{count} subword{'s' * (count > 1)}"
        if not new.best.hypothesis.complete:
            pieces = f"stopped without an end after {pieces}"
        log_p = number(facts.score(facts.target, edits))
        yield f"{pieces} · log probability of the original translation {log_p}"
        name = f"Layer {layer}" if layer else "Embeddings, before any layer"
        yield name + ", which the model uses" * (layer == N)


@torch.inference_mode()
def _cross_keys_and_values(facts: Facts, layer: int) -> dict[str, Hook]:
    """Hooks that give each cross-attention the keys and values of one encoder layer's output."""
    model = facts.model
    x = model.encoder.embedding(torch.tensor([facts.source]))
    for encoder_layer in model.encoder.layers[:layer]:
        x = encoder_layer(x)
    edits: dict[str, Hook] = {}
    for n in range(facts.config.decoder.N):
        name = attention_name("cross", n)
        attention = model.get_submodule(name)
        assert isinstance(attention, MultiHeadAttention)
        for part, values in zip("kv", attention.keys_and_values(x), strict=True):

            def replace(there: Tensor, _name: str, values: Tensor = values) -> Tensor:
                return values.expand_as(there)

            edits[f"{name}.hook_{part}"] = replace
    return edits


def _table(facts: Facts, read: list[Floats]) -> Iterator[str]:
    """Each cell, and what a hover says of it."""
    tokens = display_tokens(facts.trace.target_tokens)
    for step, token in enumerate(tokens):
        ranks = [_ranks(facts, p[step], step) for p in read]
        stays = _stays(ranks)
        yield f"first at at {step + 1} {token}: {'never' if stays is None else f'L{stays + 1}'}"
        for layer, p in enumerate(read):
            where = f"L{layer + 1} at {step + 1} {token}"
            best = _best(facts, p[step])
            yield f"{where} hover: {', '.join(f'{name} {p}' for name, p in best)}"
            name, first = best[0]
            low, high = ranks[layer]
            if high == 0:
                yield f"{where}: {name} {first}"
            elif low == high:
                yield f"{where}: {name} rank {low + 1:,}"
            else:  # another piece is as probable, as float32 rounds
                yield f"…{where}: {name} rank …"


def _at_step(facts: Facts, read: list[Floats], step: int) -> Iterator[str]:
    written = display_tokens(facts.trace.target_tokens)[step]
    stays = _stays([_ranks(facts, p[step], step) for p in read])
    yield (
        f"The last layer finds another subword more probable than “{written}”: the search kept "
        "this one."
        if stays is None
        else f"“{written}” is the most probable subword from layer {stays + 1} on."
    )
    for layer, p in enumerate(read, start=1):
        yield f"L{layer}"
        yield from (f"{name} {shown_p}" for name, shown_p in _best(facts, p[step]))


def _ranks(facts: Facts, p: Floats, step: int) -> tuple[int, int]:
    """Count the pieces more probable than the written one, at least and at most."""
    own = p[facts.target[step]]
    others = np.delete(p, NEVER_WRITTEN)
    return (
        int((others > own * (1 + ROUNDING)).sum()),
        int((others > own * (1 - ROUNDING)).sum()) - 1,  # itself
    )


def _stays(ranks: list[tuple[int, int]]) -> int | None:
    """The first layer from which no later one has another piece first."""
    stays = None
    for layer in reversed(range(len(ranks))):
        if ranks[layer][1]:
            break
        stays = layer
    return stays


def _best(facts: Facts, p: Floats) -> list[tuple[str, str]]:
    p = p.copy()
    p[list(NEVER_WRITTEN)] = -1
    ids = np.argsort(-p)[:_TOP].tolist()
    names = [
        display_tokens([piece.text, "▁"])[0] for piece in facts.translator.tokenizer.pieces_of(ids)
    ]
    return [(name, probability(np.log(p[n]))) for name, n in zip(names, ids, strict=True)]


def _sum(facts: Facts, step: int) -> Iterator[str]:
    """The logit, in how many parts, and which head adds most."""
    yield f"What adds up to its score (logit) {number(logits(facts)[step, facts.target[step]])}"
    # token, position and biases beside the sub-layers
    parts = len(SUBLAYERS) * facts.config.N + 3
    yield (
        f"The {parts} parts add up to the score (a logit is a score before the softmax). Rounding "
        f"may hide up to {(parts + 1) * 0.005:.2f}."
    )
    by_kind = direct(facts, step, output_matrix(facts)[facts.target[step]])
    every: list[tuple[float, str]] = []
    for kind_name, kind in (("decoder", "decoder_self"), ("cross-attention", "cross")):
        heads = by_kind[kind]
        yield f"● {kind_name} {signed(heads.sum())}"
        every += [(float(heads[at]), head_title(kind_name, *at)) for at in np.ndindex(heads.shape)]
    most = max(abs(value) for value, _ in every)
    value, head = max(every)
    yield (
        f"Purple adds, olive subtracts; full colour: {most:.2f}. {head} adds most, {signed(value)}."
    )
