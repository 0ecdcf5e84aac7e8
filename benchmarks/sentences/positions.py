"""What the Positions page says of a sentence: sizes at its foot, and what edits do to it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from benchmarks.sentences.facts import Expected, Facts, Floats, Marked, number
from benchmarks.sentences.translate import bar, noticed
from transformer.hooks import Hook

SEED, MOVED = 3, 64


def foot(facts: Facts) -> Iterator[Expected]:
    """What the first layer of the encoder reads."""
    yield from bar(facts)
    d = facts.config.d_model
    weight = facts.model.shared_embedding.detach().double().numpy()
    tokens = weight[facts.source] * math.sqrt(d)
    waves = encoding(np.arange(len(tokens)), d)
    for label, values in (("RMS token", tokens), ("position", waves), ("sum", tokens + waves)):
        yield f"{label}: {math.sqrt(float((values**2).mean())):.4f}"


def encoding(positions: np.ndarray, d: int) -> Floats:
    """The formula of §3.5, number by number."""
    table = np.empty((len(positions), d))
    for n, position in enumerate(positions):
        for i in range(0, d, 2):
            angle = position / 10_000 ** (i / d)
            table[n, i], table[n, i + 1] = math.sin(angle), math.cos(angle)
    return table


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
    yield Marked(new.text, facts.found.text)
    yield (
        f"log p {number(new.log_prob)} · of the translation in the bar "
        f"{number(facts.score(facts.target, edits))}"
    )
    yield from noticed(facts, new)


def beyond(facts: Facts) -> Iterator[Expected]:
    """Moved by a distance."""
    yield from bar(facts)
    yield from _candidate(facts, "both stacks moved by 64", _on(_move, "encoder", "decoder"))
    yield from _candidate(facts, "encoder alone moved by 64", _on(_move, "encoder"))


def without(facts: Facts) -> Iterator[Expected]:
    """Removed and shuffled."""
    yield from bar(facts)
    every = {
        "encoder removed": _on(_remove, "encoder"),
        "encoder shuffled": _on(_shuffle, "encoder"),
        "decoder removed": _on(_remove, "decoder"),
        "both removed": _on(_remove, "encoder", "decoder"),
    }
    changed = []
    for name, edits in every.items():
        yield from _candidate(facts, name, edits)
        if facts.translated(edits).text != facts.found.text:
            changed.append(name)
    own = facts.score(facts.target)
    scores = {name: facts.score(facts.target, edits) for name, edits in every.items()}
    most = max(scores, key=lambda name: abs(scores[name] - own))
    listed = ", ".join(changed[:-1]) + " and " * (len(changed) > 1) + "".join(changed[-1:])
    which = f", {listed}" if changed else ""
    change = "changes" if len(changed) == 1 else "change"
    yield (
        f"On this sentence {len(changed)} of 4 edits {change} what the model writes{which}. The "
        f"log p of the translation in the bar is {number(own)} as the model is, and changes most, "
        f"to {number(scores[most])}, with {most}."
    )
    tokens = facts.sides["english"]
    places = np.random.default_rng(SEED).permutation(len(tokens)).tolist()
    yield " ".join(tokens[places.index(place)] for place in range(len(tokens)))
    pair = ("The dog bites the man.", "The man bites the dog.")
    edited = [facts.translated(every["encoder removed"], text).text for text in pair]
    for text, new in zip(pair, edited, strict=True):
        own_text = facts.translator.translate(text).text
        yield (f"“{text}” becomes “{own_text}”, and without the encoder's positions “{new}”.")
    assert edited[0] == edited[1]
    yield "The pieces are the same, so without positions the two are one sentence to the encoder."
