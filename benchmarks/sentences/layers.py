"""What the view “Layer by layer” of the page “What heads do” says."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.sentences.facts import Expected, Facts, Floats, number
from benchmarks.sentences.logits import (
    SUBLAYERS,
    direct,
    least_certain_step,
    logits,
    output_matrix,
    read_after,
)
from benchmarks.sentences.taken_away import signed
from benchmarks.sentences.translate import bar
from benchmarks.sentences.why import probability
from transformer.decoding import NEVER_WRITTEN
from viz.draw.labels import display_tokens

_TOP, _ROUNDING = 5, 1e-5


def layers(step: int | None = None) -> Callable[[Facts], Iterator[Expected]]:
    """With the heads of one step; from 0, the least certain one unless given."""

    def check(facts: Facts) -> Iterator[Expected]:
        yield from bar(facts)
        at = least_certain_step(facts) if step is None or step >= len(facts.target) else step
        if step is not None and at != step:
            yield (
                f"The translation has {len(facts.target)} pieces and no piece {step + 1}: this is "
                f"piece {at + 1}."
            )
        read = [read_after(facts, layer) for layer in range(facts.config.N)]
        yield from _table(facts, read)
        yield f"Step {at + 1} {facts.rows('cross')[at].removeprefix('the row that ')}"
        yield from _at_step(facts, read, at)
        yield from _sum(facts, at)

    return check


def _table(facts: Facts, read: list[Floats]) -> Iterator[str]:
    """Each cell, and what a hover says of it."""
    tokens = display_tokens(facts.trace.target_tokens)
    for step, token in enumerate(tokens):
        ranks = [_ranks(facts, p[step], step) for p in read]
        stays = _stays(ranks)
        for layer, p in enumerate(read):
            where = f"L{layer + 1} at {step + 1} {token}"
            best = _best(facts, p[step])
            yield f"{where} hover: {', '.join(f'{name} {p}' for name, p in best)}"
            name, first = best[0]
            low, high = ranks[layer]
            if high == 0:
                kept = ", stays from here" if layer == stays else ""
                yield f"{where}: {name} {first}{kept}"
            elif low == high:
                yield f"{where}: {name} rank {low + 1:,}"
            else:  # another piece is as probable, as float32 rounds
                yield f"…{where}: {name} rank …"


def _at_step(facts: Facts, read: list[Floats], step: int) -> Iterator[str]:
    written = display_tokens(facts.trace.target_tokens)[step]
    stays = _stays([_ranks(facts, p[step], step) for p in read])
    yield (
        f"The last layer finds another piece more probable than “{written}”: the search kept this "
        "one."
        if stays is None
        else f"“{written}” is the most probable piece from layer {stays + 1} on."
    )
    for layer, p in enumerate(read, start=1):
        yield f"L{layer}"
        yield from (f"{name} {shown_p}" for name, shown_p in _best(facts, p[step]))


def _ranks(facts: Facts, p: Floats, step: int) -> tuple[int, int]:
    """How many pieces are more probable than the written one, at least and at most."""
    own = p[facts.target[step]]
    others = np.delete(p, NEVER_WRITTEN)
    return (
        int((others > own * (1 + _ROUNDING)).sum()),
        int((others > own * (1 - _ROUNDING)).sum()) - 1,  # itself
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
    yield f"What makes the logit {number(logits(facts)[step, facts.target[step]])}"
    # token, position and biases beside the sub-layers
    parts = len(SUBLAYERS) * facts.config.N + 3
    yield (
        f"The {parts} parts add up to the logit. Each figure is rounded by itself, so the printed "
        f"ones may miss it by up to {(parts + 1) * 0.005:.2f}."
    )
    found = direct(facts, step, output_matrix(facts)[facts.target[step]])
    every: list[tuple[float, str]] = []
    for kind_name, kind in (("decoder", "decoder_self"), ("cross", "cross")):
        of = found[kind]
        yield f"{kind_name} {signed(of.sum())}"
        every += [
            (float(of[at]), f"L{at[0] + 1} H{at[1] + 1} · {kind_name}")
            for at in np.ndindex(of.shape)
        ]
    most = max(abs(value) for value, _ in every)
    value, head = max(every)
    yield (
        f"Purple adds to the logit, olive takes from it; the full colour is {most:.2f}. Most is "
        f"added by {head}, {signed(value)}."
    )
