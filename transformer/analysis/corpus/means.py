"""Means of every head over the lines, with bootstrap intervals, roles and a table."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from transformer.analysis.corpus.corpus_roles import corpus_role
from transformer.analysis.corpus.measured import COST, Floats, MeasuredLines
from transformer.analysis.corpus.resampling import (
    Interval,
    holm,
    mean_interval,
    permutation_p,
    resampled_weights,
)
from transformer.kinds import KINDS

SEED = 0


@dataclass(frozen=True, eq=False)
class HeadMeans:
    """Means of every head over the lines."""

    # by the names of `HEAD_MEASURES`, each with its 95 % interval, `[head]`; NaN where the kind has
    # no such measure
    values: Mapping[str, Interval]
    roles: tuple[str, ...]  # the role of each head, "" where nothing dominates
    # by measure of `TESTED`, p of the hypothesis that the mean is 0, corrected for all heads,
    # `[head]`
    p: Mapping[str, Floats]


TESTED = (COST,)
"""Measures of which 0 says that the head does nothing."""


def head_means(lines: MeasuredLines, seed: int = SEED) -> HeadMeans:
    """Average measures over all rows, gradients over sentences and the loss over subwords."""
    weights = resampled_weights(len(lines), seed)
    values = {name: _means(lines, name, weights) for name in lines.head_values}
    ps = {
        name: holm(permutation_p(lines.head_values[name] * lines.subwords[:, None], seed))
        for name in TESTED
        if name in lines.head_values
    }
    return HeadMeans(values, tuple(_roles(lines, values)), ps)


def _means(lines: MeasuredLines, name: str, weights: Floats) -> Interval:
    parts = []
    for kind in KINDS:
        columns = [n for n, head in enumerate(lines.heads) if head.kind == kind]
        values = lines.head_values[name][:, columns].astype(np.float64)
        parts.append(mean_interval(values, weights, lines.counts(name, kind)))
    return Interval(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _roles(lines: MeasuredLines, values: Mapping[str, Interval]) -> list[str]:
    roles = []
    for column, (place, offset) in enumerate(zip(lines.heads, lines.offsets, strict=True)):
        means = {name: float(interval.value[column]) for name, interval in values.items()}
        known = {name: mean for name, mean in means.items() if not np.isnan(mean)}
        roles.append(corpus_role(known, place.kind, int(offset)))
    return roles


def heads_table(lines: MeasuredLines, means: HeadMeans) -> pd.DataFrame:
    """Return one row a head: its place from 1, its role, and each measure with its interval."""
    table: dict[str, object] = {
        "kind": [head.kind for head in lines.heads],
        "layer": [head.layer + 1 for head in lines.heads],
        "head": [head.head + 1 for head in lines.heads],
        "role": means.roles,
        "offset of the maxima": lines.offsets,
    }
    for name, interval in means.values.items():
        for suffix, column in zip(("", " low", " high"), interval, strict=True):
            table[f"{name}{suffix}"] = column
        if name in means.p:
            table[f"{name} p"] = means.p[name]
    return pd.DataFrame(table)


def sentences_table(lines: MeasuredLines) -> pd.DataFrame:
    """Return one row a line: number, source, translation, reference, and measures."""
    return pd.DataFrame(
        {
            "line": [pair.number for pair in lines.pairs],
            "source": [pair.source for pair in lines.pairs],
            "translation": [pair.target for pair in lines.pairs],
            **(
                {"reference": [pair.reference for pair in lines.pairs]}
                if any(pair.reference for pair in lines.pairs)
                else {}
            ),
            **{
                name: values
                for name, values in lines.sentence_values.items()
                if not np.isnan(values).all()
            },
        }
    )
