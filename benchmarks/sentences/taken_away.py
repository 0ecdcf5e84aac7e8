"""What the view “Take away” of the page “What heads do” says with two heads off."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from benchmarks.sentences.facts import KINDS, MAYBE, Expected, Facts, Floats, Marked, number
from benchmarks.sentences.heads import strongest_cells
from benchmarks.sentences.translate import bar, unsure
from transformer import Kind, Translator
from transformer.analysis.alignment_settings import read_alignment
from transformer.config import BOS
from transformer.hooks import Hook
from transformer.kinds import attention_name

_NAMED, _ROUNDING = 8, 1e-5


def off(translator: Translator) -> tuple[tuple[Kind, int, int], ...]:
    """The heads with z = 0: the one by which words are aligned, or one beside it, and another."""
    aligns = read_alignment(translator)
    return ("cross", aligns.layer, aligns.head or 0), ("encoder_self", 0, 5)


def link(translator: Translator) -> str:
    """These heads as the address has them."""
    return ",".join(f"{kind[0]}{layer}.{head}" for kind, layer, head in off(translator))


def taken_away(facts: Facts) -> Iterator[Expected]:
    """The new translation, log P, the small maps, and which heads look elsewhere."""
    yield from bar(facts)
    heads = off(facts.translator)
    edits = {f"{attention_name(kind, layer)}.hook_z": _zero(head) for kind, layer, head in heads}
    new = facts.translated(edits)
    total = len(KINDS) * facts.config.N * facts.config.h
    yield f"{len(heads)} of {total} heads are changed, and the model writes:"
    yield Marked(new.text, facts.found.text)
    pieces = list(new.best.hypothesis.tokens)
    written = facts.score(pieces, edits)
    before, now = facts.score(facts.target), facts.score(facts.target, edits)
    yield (
        f"log p {number(written)} · of the translation in the bar {number(now)}, "
        f"{signed(now - before)} by the change"
    )
    yield from unsure(facts, written / len(pieces))
    maps, plain = _maps(facts, edits), _maps(facts, {})
    for kind, weights in maps.items():
        yield from strongest_cells(kind, weights)
    for n, row in enumerate(facts.rows("cross"), start=1):
        yield f"attention_map row {n}: {row.removeprefix('the row that ')}"
    yield from _changed(maps, plain)


def signed(value: float) -> str:
    """With its sign, where it does not round to 0."""
    text = number(value)
    return text if value < 0 or not float(text) else f"+{text}"


def _zero(head: int) -> Hook:
    def edit(z: Tensor, _name: str) -> Tensor:
        part = torch.arange(z.size(1))[:, None, None] == head
        return z.masked_fill(part, 0)

    return edit


def _maps(facts: Facts, edits: dict[str, Hook]) -> dict[Kind, Floats]:
    """The weights of every head on the translation in the bar, `[layer, head, query, key]`."""
    model = facts.model
    with torch.inference_mode(), model.hooks(edits):
        _, seen = model.run_with_cache(
            torch.tensor([facts.source]),
            torch.tensor([[BOS, *facts.target[:-1]]]),
            names=lambda name: name.endswith("hook_pattern"),
        )
    layers = range(facts.config.N)
    return {
        kind: np.stack([seen[f"{attention_name(kind, n)}.hook_pattern"][0].numpy() for n in layers])
        for kind in KINDS.values()
    }


def _changed(maps: dict[Kind, Floats], plain: dict[Kind, Floats]) -> Iterator[str]:
    """The heads whose rows lie farthest from before: half the sum of what moved, row by row."""
    # the decoder's first row sees one key alone, in every head
    moved = [
        (
            float(np.abs(maps[kind][at] - plain[kind][at])[kind == "decoder_self" :].sum(-1).mean())
            / 2,
            kind,
            at,
        )
        for kind in maps
        for at in np.ndindex(maps[kind].shape[:2])
    ]
    moved.sort(reverse=True, key=lambda one: one[0])
    last = max(moved[_NAMED - 1][0], 0.005)
    names = {kind: name for name, kind in KINDS.items()}
    for distance, kind, (layer, head) in moved:
        if distance > last - _ROUNDING:
            maybe = MAYBE if distance < last + _ROUNDING else ""
            yield f"{maybe}L{layer + 1} H{head + 1} · {names[kind]} {distance:.2f}"
