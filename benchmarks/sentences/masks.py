"""Sentences on masks and positions: what each row sees, and what happens without them."""

import math
import statistics
from collections.abc import Iterator
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from benchmarks.sentences.facts import (
    KINDS,
    Expected,
    Facts,
    Marked,
    noticed,
    number,
    padded_inputs,
    sentence,
    signed,
)
from tests.transformer.reference import positions
from transformer import Kind
from transformer.hooks import Hook
from transformer.kinds import attention_name

HIDDEN = {"encoder_self": "padding", "decoder_self": "later words", "cross": "padding"}


def grids(facts: Facts, kind_name: str, row: int = 2, number_of: int = 0) -> Iterator[str]:
    """One row of one sentence in words, both from 0."""
    kind = KINDS[kind_name]
    every = facts.batch
    longest = max(member.queries(kind) for member in every)
    columns = max(member.keys(kind) for member in every)
    for n, member in enumerate(every, start=1):
        rows, across = member.queries(kind), member.keys(kind)
        title = f"Sentence {n}: {_padded(rows, longest, 'token')}"
        if kind == "cross":
            title = f"Sentence {n}: {_padded(rows, longest, 'row')}, "
            title += _padded(across, columns, "column")
        yield f"mask_grids title: {title}"
        for q, name in enumerate(_names(member, kind, longest), start=1):
            yield f"mask_grids row {q} of {title}: {sentence(name)}"
    member = every[number_of]
    keys = member.sides["reads" if kind == "decoder_self" else "english"]
    keys = [*keys, *["<pad>"] * (columns - len(keys))]
    at = min(row, longest - 1)
    name = sentence(_names(member, kind, longest)[at])
    if kind == "decoder_self":
        seen, hidden = keys[: at + 1], keys[at + 1 :]
        one_why, why = "it comes later", "they come later"
    else:
        seen, hidden = keys[: len(member.source)], keys[len(member.source) :]
        one_why, why = "it is padding", "they are padding"
    yield f"{name} may see {_listed(seen)}."
    if hidden:
        yield (f"{name} may not see {_listed(hidden)}: {why if len(hidden) > 1 else one_why}.")
    if at >= member.queries(kind):
        yield "This row is padding: the model computes it, but nothing reads it."


def _padded(real: int, longest: int, unit: str) -> str:
    pads = f" + {longest - real} padding" if real < longest else ""
    return f"{real} {unit}{'' if real == 1 else 's'}{pads}"


def _names(facts: Facts, kind: Kind, longest: int) -> list[str]:
    names = facts.rows(kind)
    alone = kind == "encoder_self"
    pad = "the row of “<pad>”" if alone else "the step that reads “<pad>” and predicts “<pad>”"
    return [*names, *[pad] * (longest - len(names))]


def _listed(tokens: list[str]) -> str:
    counts = ((token, len(list(group))) for token, group in groupby(tokens))
    names = [f"“{token}”" if n == 1 else f"{n} × “{token}”" for token, n in counts]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def removed(facts: Facts, kind_name: str) -> Iterator[Expected]:
    """Without the mask of one kind."""
    kind = KINDS[kind_name]
    every = facts.batch
    # alone there is no padding that a mask could hide: each sentence without the others
    masked = [
        -member.log_p(member.target)[range(len(member.target)), member.target] for member in every
    ]
    losses, shares = _without(every, kind)
    before, after = (float(np.concatenate(values).mean()) for values in (masked, losses))
    yield f"Loss with the mask: {before:.3f} nats"
    yield f"Loss without it: {after:.3f} nats"
    yield f"Attention to {HIDDEN[kind]}, whole batch: {np.concatenate(shares).mean():.1%}"
    yield "Averaged over all heads, without the mask. With the mask it is 0.0000 in every head."
    yield (
        f"Loss on each next token of sentence 1: {masked[0].mean():.3f} nats with the mask, "
        f"{losses[0].mean():.3f} without it"
    )
    source = max(len(member.source) for member in every)
    padded = [len(member.source) < source for member in every]
    hides = [True] * len(every) if kind == "decoder_self" else padded
    if hides[0]:
        yield f"Attention to {HIDDEN[kind]} in this sentence: {shares[0].mean():.1%}."
    else:
        yield "This sentence has no padding, so nothing leaks into it."
    yield f"…{_effect(masked, losses, hides)}…"


def _without(every: list[Facts], kind: Kind) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Losses of each sentence, and the shares of attention to hidden keys of each of its rows."""
    facts = every[0]
    places = [attention_name(kind, layer) for layer in range(facts.config.N)]
    edits = {f"{place}.hook_mask": lambda mask, _name: mask | True for place in places}
    losses, shares = [], []
    # the decoder has no padding to see where each sentence is by itself
    for batch in [[member] for member in every] if kind == "decoder_self" else [every]:
        with torch.inference_mode(), facts.model.hooks(edits):
            logits, cache = facts.model.run_with_cache(
                *padded_inputs(batch), names=lambda name: name.endswith("hook_pattern")
            )
        log_p = logits.double().log_softmax(-1).numpy()
        patterns = [cache[f"{place}.hook_pattern"].double().numpy() for place in places]
        for n, member in enumerate(batch):
            losses.append(-log_p[n, range(len(member.target)), member.target])
            firsts = [
                (q, q + 1 if kind == "decoder_self" else member.keys(kind))
                for q in range(member.queries(kind))
            ]
            rows = [[p[n, :, q, first:].sum(-1).mean() for p in patterns] for q, first in firsts]
            shares.append(np.array(rows).mean(-1))
    return losses, shares


def _effect(masked: list[np.ndarray], losses: list[np.ndarray], hides: list[bool]) -> str:
    if not any(hides):
        return "no sentence of this batch is padded, so this mask hides nothing"
    before = np.concatenate([values for values, hid in zip(masked, hides, strict=True) if hid])
    after = np.concatenate([values for values, hid in zip(losses, hides, strict=True) if hid])
    changes = (after - before).tolist()
    mean = sum(changes) / len(changes)
    error = statistics.stdev(changes) / math.sqrt(len(changes)) if len(changes) > 1 else math.inf
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
        return "Without the mask the loss stays at"
    if abs(mean) <= 2 * error:
        shown = round(float(after.mean()), 3) - round(float(before.mean()), 3)
        return (
            f"Without the mask the loss goes {numbers}: by {signed(shown, 3)} ± "
            f"{2 * error:.3f} (two standard errors over {len(changes)} subword"
        )
    slightly = " slightly" if abs(mean) < 0.05 else ""
    return f"Without the mask the loss {'rises' if mean > 0 else 'falls'}{slightly}, {numbers}"


SEED, MOVED = 3, 64


def foot(facts: Facts) -> Iterator[Expected]:
    """Yield what the first layer of the encoder reads."""
    d = facts.config.d_model
    weight = facts.model.shared_embedding.detach().double().numpy()
    tokens = weight[facts.source] * math.sqrt(d)
    waves = positions(len(tokens), d)
    for label, values in (("RMS token", tokens), ("position", waves), ("sum", tokens + waves)):
        yield f"{label}: {math.sqrt(float((values**2).mean())):.4f}"


def _move(values: Tensor, _name: str) -> Tensor:
    """Turn each pair of waves by what a distance of `MOVED` is to it."""
    pairs = torch.view_as_complex(
        values.double().reshape(*values.shape[:-1], -1, 2).flip(-1).contiguous()
    )
    d = values.shape[-1]
    angle = torch.tensor([MOVED / 10_000 ** (i / d) for i in range(0, d, 2)], dtype=torch.float64)
    turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flip(-1)
    return turned.reshape(values.shape).to(values.dtype)


def _remove(values: Tensor, _name: str) -> Tensor:
    return values * 0


def _shuffle(values: Tensor, _name: str) -> Tensor:
    return values[:, np.random.default_rng(SEED).permutation(values.shape[1])]


def _on(hook: Hook, *stacks: str) -> dict[str, Hook]:
    return {f"{stack}.embedding.hook_positions": hook for stack in stacks}


def _candidate(facts: Facts, name: str, edits: dict[str, Hook]) -> Iterator[Expected]:
    new = facts.translated(edits)
    yield name
    yield Marked(new.text, facts.translation.text)
    yield (
        f"log probability {number(new.log_prob)} · original translation: "
        f"{number(facts.score(facts.target))} → {number(facts.score(facts.target, edits))}"
    )
    yield from noticed(facts, new)


def beyond(facts: Facts) -> Iterator[Expected]:
    """Moved by a distance."""
    yield from _candidate(facts, "all positions shifted by 64", _on(_move, "encoder", "decoder"))
    yield from _candidate(facts, "encoder positions shifted by 64", _on(_move, "encoder"))


def without(facts: Facts) -> Iterator[Expected]:
    """Removed and shuffled."""
    every = {
        "no encoder positions": _on(_remove, "encoder"),
        "shuffled encoder positions": _on(_shuffle, "encoder"),
        "no decoder positions": _on(_remove, "decoder"),
        "no positions": _on(_remove, "encoder", "decoder"),
    }
    changed = []
    for name, edits in every.items():
        yield from _candidate(facts, name, edits)
        if facts.translated(edits).text != facts.translation.text:
            changed.append(name)
    listed = ", ".join(changed[:-1]) + " and " * (len(changed) > 1) + "".join(changed[-1:])
    which = f": {listed}" if changed else ""
    change = "changes" if len(changed) == 1 else "change"
    yield f"Here {len(changed)} of 4 edits {change} the translation{which}."
    tokens = facts.sides["english"]
    places = np.random.default_rng(SEED).permutation(len(tokens)).tolist()
    yield " ".join(tokens[places.index(place)] for place in range(len(tokens)))
    pair = ("The dog bites the man.", "The man bites the dog.")
    edited = [facts.translated(every["no encoder positions"], text).text for text in pair]
    for text, new in zip(pair, edited, strict=True):
        own_text = facts.translator.translate(text).text
        yield (f"“{text}” becomes “{own_text}”, without encoder positions “{new}”.")
    assert edited[0] == edited[1]
    yield "Without positions, both are the same sentence to the encoder."
