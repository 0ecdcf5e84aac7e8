"""What the Masks page says: who may see whom, and what leaks without a mask."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch

from benchmarks.sentences.facts import KINDS, Expected, Facts, number, sentence
from benchmarks.sentences.translate import bar
from transformer import Kind
from transformer.config import BOS, PAD

HIDDEN = {"encoder_self": "padding", "decoder_self": "what comes later", "cross": "padding"}


def batch(facts: Facts) -> list[Facts]:
    """The sentence and those beside it."""
    return [facts, *facts.beside]


def grids(kind_name: str, row: int = 2, number_of: int = 0) -> Callable[[Facts], Iterator[str]]:
    """One row of one sentence in words, both from 0."""
    kind = KINDS[kind_name]

    def check(facts: Facts) -> Iterator[str]:
        yield from bar(facts)
        every = batch(facts)
        source = max(len(one.source) for one in every)
        target = max(len(one.target) for one in every)
        longest = source if kind == "encoder_self" else target
        for n, one in enumerate(every, start=1):
            real = len(one.source if kind == "encoder_self" else one.target)
            title = f"Sentence {n}: {real} tokens"
            yield f"mask_grids title: {title}"
            for q, name in enumerate(_names(one, kind, longest), start=1):
                yield f"mask_grids row {q} of {title}: {sentence(name)}"
        one = every[number_of]
        english = [*one.sides["english"], *["<pad>"] * (source - len(one.source))]
        read = [*one.sides["reads"], *["<pad>"] * (target - len(one.target))]
        keys = read if kind == "decoder_self" else english
        at = min(row, longest - 1)
        name = sentence(_names(one, kind, longest)[at])
        if kind == "decoder_self":
            seen, hidden = keys[: at + 1], keys[at + 1 :]
            one_why, why = "it comes later", "they come later"
        else:
            seen, hidden = keys[: len(one.source)], keys[len(one.source) :]
            one_why, why = "it is padding", "they are padding"
        yield f"{name} may see {_listed(seen)}."
        if hidden:
            yield (f"{name} may not see {_listed(hidden)}: {why if len(hidden) > 1 else one_why}.")
        if at >= len(one.source if kind == "encoder_self" else one.target):
            yield "This row is padding itself: it is computed, and nobody reads it."

    return check


def _names(facts: Facts, kind: Kind, longest: int) -> list[str]:
    names = facts.rows(kind)
    pad = "the row of “<pad>”"
    if kind != "encoder_self":
        pad = "the row that reads “<pad>” and writes “<pad>”"
    return [*names, *[pad] * (longest - len(names))]


def _listed(tokens: list[str]) -> str:
    counted: list[tuple[str, int]] = []
    for token in tokens:
        if counted and counted[-1][0] == token:
            counted[-1] = token, counted[-1][1] + 1
        else:
            counted.append((token, 1))
    names = [f"“{token}”" if n == 1 else f"{n} × “{token}”" for token, n in counted]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def removed(kind_name: str) -> Callable[[Facts], Iterator[Expected]]:
    """Without the mask of one kind."""
    kind = KINDS[kind_name]

    def check(facts: Facts) -> Iterator[Expected]:
        yield from bar(facts)
        every = batch(facts)
        # alone there is no padding that a mask could hide: each sentence without the others
        masked = [-one.log_p(one.target)[range(len(one.target)), one.target] for one in every]
        losses, shares, padding = _without(every, kind)
        before, after = (float(np.concatenate(found).mean()) for found in (masked, losses))
        yield f"Loss with the mask: {before:.3f} nats"
        yield f"Loss without it: {after:.3f} nats"
        yield f"Attention to {HIDDEN[kind]}: {shares:.1%}"
        yield (
            f"Mean over all heads without the mask; {padding:.1%} goes to padding. With the mask "
            "it is 0.0000 in every head."
        )
        yield (
            f"Loss on each next token of sentence 1: {masked[0].mean():.3f} nats with the mask, "
            f"{losses[0].mean():.3f} without it"
        )
        source = max(len(one.source) for one in every)
        padded = [len(one.source) < source for one in every]
        hides = [True] * len(every) if kind == "decoder_self" else padded
        if not hides[0]:
            yield "This sentence has no padding: nothing can leak into it."
        yield f"…{_effect(masked, losses, hides)}…"

    return check


def _without(every: list[Facts], kind: Kind) -> tuple[list[np.ndarray], float, float]:
    """Losses of each sentence, the share of attention to hidden keys, and that to padding."""
    facts = every[0]
    source = torch.tensor(_padded([one.source for one in every]))
    target = torch.tensor(_padded([[BOS, *one.target[:-1]] for one in every]))
    stack, sublayer = {
        "encoder_self": ("encoder", "self_attention"),
        "decoder_self": ("decoder", "self_attention"),
        "cross": ("decoder", "cross_attention"),
    }[kind]
    places = [f"{stack}.layers.{n}.{sublayer}" for n in range(facts.config.N)]
    edits = {f"{place}.hook_mask": lambda mask, _name: mask | True for place in places}
    with torch.inference_mode(), facts.model.hooks(edits):
        logits, cache = facts.model.run_with_cache(
            source, target, names=lambda name: name.endswith(f"{sublayer}.hook_pattern")
        )
    log_p = logits.double().log_softmax(-1).numpy()
    losses = [-log_p[n, range(len(one.target)), one.target] for n, one in enumerate(every)]
    patterns = [cache[f"{place}.hook_pattern"].double().numpy() for place in places]
    hidden, padding = [], []
    for n, one in enumerate(every):
        length = len(one.source if kind != "decoder_self" else one.target)
        queries = len(one.source if kind == "encoder_self" else one.target)
        for q in range(queries):
            first = q + 1 if kind == "decoder_self" else length
            for pattern in patterns:
                hidden.append(pattern[n, :, q, first:].sum(-1).mean())
                padding.append(pattern[n, :, q, max(first, length) :].sum(-1).mean())
    return losses, float(np.mean(hidden)), float(np.mean(padding))


def _padded(rows: list[list[int]]) -> list[list[int]]:
    longest = max(map(len, rows))
    return [[*row, *[PAD] * (longest - len(row))] for row in rows]


def _effect(masked: list[np.ndarray], losses: list[np.ndarray], hides: list[bool]) -> str:
    if not any(hides):
        return "No sentence of this batch is padded, so this mask hides nothing"
    before = np.concatenate([one for one, hid in zip(masked, hides, strict=True) if hid])
    after = np.concatenate([one for one, hid in zip(losses, hides, strict=True) if hid])
    changes = (after - before).tolist()
    mean = sum(changes) / len(changes)
    error = math.inf
    if len(changes) > 1:
        variance = sum((one - mean) ** 2 for one in changes) / (len(changes) - 1)
        error = math.sqrt(variance / len(changes))
    names = [str(n) for n, hid in enumerate(hides, start=1) if hid]
    where = ""
    if len(names) < len(hides):
        where = (
            f"in sentence {names[0]}, the padded one, "
            if len(names) == 1
            else f"in sentences {', '.join(names[:-1])} and {names[-1]}, the padded ones, "
        )
    numbers = f"{where}from {before.mean():.3f} to {after.mean():.3f} nats"
    if abs(mean) < 0.0005:
        return "Without the mask the loss stays what it is"
    if abs(mean) <= 2 * error:
        sign = "+" if mean > 0 else ""
        return (
            f"Without the mask the loss goes {numbers}: by {sign}{number(mean, 3)} ± "
            f"{2 * error:.3f} (two standard errors over {len(changes)} pieces)"
        )
    slightly = " slightly" if abs(mean) < 0.05 else ""
    return f"Without the mask the loss {'rises' if mean > 0 else 'falls'}{slightly}, {numbers}"
