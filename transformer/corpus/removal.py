"""Removal of heads over many lines, beside the removal of as many random heads of their kinds."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, prod

import numpy as np
import pandas as pd
import torch

from transformer import errors
from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.heads.removal import Removal, removed
from transformer.analysis.teacher_forcing import Progress, no_progress
from transformer.arrays import Floats
from transformer.corpus import resampling
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.passes import (
    Part,
    Step,
    batches_of,
    losses_of,
    steps,
    translations,
)
from transformer.translator import Translator

CHANGE = "Δ log p per subword"

CONTROLS = 20  # random sets of heads that are removed for comparison, at most
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


@dataclass(frozen=True, eq=False)
class LinesWithout:
    """Lines before and after some heads were removed."""

    heads: tuple[Head, ...]
    changes: Floats  # log P of the old translations after less before, `[sentence]`, nats
    translations: tuple[str, ...]  # what the model writes without these heads
    # the same change for random sets of as many heads of each kind, `[control, sentence]`
    control_changes: Floats


@dataclass(frozen=True, eq=False)
class RemovalSummary:
    """Costs of the removal of some heads."""

    changes: Floats  # of log P per subword, `[sentence]`
    change: resampling.Interval  # their mean over all subwords
    p: float  # of the hypothesis that nothing changes, by exchanging signs
    control_changes: Floats  # per subword of each random set, `[control]`
    control_p: float  # share of the random sets that cost as much, the removed one among them
    changed: resampling.Interval  # share of the translations that differ
    lost: tuple[tuple[str, int], ...]  # words that the translations lose, most often first
    won: tuple[tuple[str, int], ...]  # words that they win


def lines_without(
    translator: Translator,
    lines: MeasuredLines,
    heads: Sequence[Head],
    *,
    progress: Progress = no_progress,
) -> LinesWithout:
    """Score and translate all lines without these heads, their outputs set to 0."""
    if not heads:
        raise errors.InputError("No head is removed: choose at least one.")
    require_heads(translator.model, heads)
    controls = random_sets(lines.heads, heads, seed=0)
    times: dict[Part, int] = {"translate": 1, "costs": 2 + len(controls)}
    step = steps(progress, [len(pair.source_ids) for pair in lines.pairs], times)
    # with all heads once more: a pass of other shapes rounds in another way
    groups: list[Sequence[Head]] = [[], heads, *controls]
    losses = np.stack([_losses(translator, lines, group, step) for group in groups])
    changes = losses[0] - losses[1:]  # log P is the negative loss
    with removed(translator, [Removal(*place) for place in heads]):
        written = translations(translator, lines.pairs, step)
    return LinesWithout(tuple(heads), changes[0], tuple(written), changes[1:])


def random_sets(heads: Sequence[Head], chosen: Sequence[Head], seed: int) -> list[tuple[Head, ...]]:
    """Draw different sets with as many heads of each kind as were chosen, none of them chosen."""
    others = {
        kind: [head for head in heads if head.kind == kind and head not in chosen]
        for kind in dict.fromkeys(head.kind for head in chosen)
    }
    sizes = Counter(head.kind for head in chosen)
    possible = prod(comb(len(others[kind]), size) for kind, size in sizes.items())
    draw = np.random.default_rng(seed)
    sets: dict[tuple[Head, ...], None] = {}
    while len(sets) < min(possible, CONTROLS):
        numbers = {kind: draw.permutation(len(others[kind]))[:size] for kind, size in sizes.items()}
        sets[tuple(others[kind][n] for kind in sizes for n in sorted(numbers[kind]))] = None
    return list(sets)


def _losses(
    translator: Translator, lines: MeasuredLines, heads: Sequence[Head], step: Step
) -> Floats:
    losses = np.zeros(len(lines))
    with removed(translator, [Removal(*place) for place in heads]), torch.inference_mode():
        for rows, batch in batches_of(translator.model, lines.pairs):
            losses[rows] = losses_of(translator.model, batch)
            step("costs", [len(lines.pairs[row].source_ids) for row in rows])
    return losses


def summarise_removal(lines: MeasuredLines, without: LinesWithout) -> RemovalSummary:
    """Summarise the removal with intervals over the lines."""
    weights = resampling.resampled_weights(len(lines), seed=0)
    subwords = lines.subwords
    controls = without.control_changes.sum(1) / subwords.sum()
    changes = without.changes / subwords
    change = resampling.mean_interval(changes, weights, subwords)
    before = [pair.target for pair in lines.pairs]
    differs = np.array([new != old for new, old in zip(without.translations, before, strict=True)])
    lost, won = word_changes(before, without.translations)
    return RemovalSummary(
        changes=changes,
        change=change,
        p=float(resampling.permutation_p(without.changes, seed=0)),
        control_changes=controls,
        control_p=float((1 + (controls <= change.value).sum()) / (1 + len(controls))),
        changed=resampling.mean_interval(differs.astype(float), weights, np.ones(len(lines))),
        lost=lost,
        won=won,
    )


def word_changes(
    before: Sequence[str], after: Sequence[str]
) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
    """Count the words that translations lose and win, line by line, most often first."""
    lost: Counter[str] = Counter()
    won: Counter[str] = Counter()
    for old, new in zip(before, after, strict=True):
        counts = [Counter(_WORD.findall(text)) for text in (old, new)]
        lost += counts[0] - counts[1]
        won += counts[1] - counts[0]
    return tuple(lost.most_common()), tuple(won.most_common())


def changes_table(lines: MeasuredLines, without: LinesWithout) -> pd.DataFrame:
    """Return one row a line, the largest change first."""
    table = pd.DataFrame(
        {
            "line": [pair.number for pair in lines.pairs],
            CHANGE: without.changes / lines.subwords,
            "source": [pair.source for pair in lines.pairs],
            "before": [pair.target for pair in lines.pairs],
            "after": without.translations,
        }
    )
    return table.sort_values(CHANGE, key=abs, ascending=False, kind="stable", ignore_index=True)
