"""Summary of each head over many sentences: one pass, in memory that does not grow with them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from transformer.analysis.axes import LabelledWeights
from transformer.analysis.corpus.corpus_roles import (
    MAX_OFFSET,
    SentenceMeasures,
    corpus_role,
    measure_sentence,
    most_frequent_offsets,
)
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import MEASURES as SENTENCE_MEASURES
from transformer.analysis.heads.measures import Floats, in_shares, measure, total_variation
from transformer.analysis.heads.roles import head_roles
from transformer.analysis.sinks import first_row
from transformer.choices import check_choices
from transformer.kinds import Kind

REACH = 8
"""The farthest relative position that has a column of its own in a profile."""

UNLIKE = "unlike others"
MEASURES: dict[str, str] = {
    **SENTENCE_MEASURES,
    UNLIKE: "share of a row that lies elsewhere than in the other maps of its kind",
}
"""Measures of each head, means over all rows."""


@dataclass(frozen=True, eq=False)
class SentenceHeads:
    """The heads of one kind on one sentence."""

    counts: tuple[int, ...]  # heads of each layer; the arrays may have room for more
    rows: int  # the number of rows that count
    measures: SentenceMeasures  # the measures of all heads, for their roles
    values: Mapping[str, Floats]  # means over these rows by `MEASURES`, `[layer, head]`
    profile: Floats  # `[layer, head, 2 · REACH + 3]`, as `offset_profile` gives it
    roles: list[list[str]]  # `[layer][head]`, the role on this sentence alone

    @property
    def unlike(self) -> float:
        """The mean distance of a head from the others of its kind."""
        values = self.values[UNLIKE]
        return float(np.mean([values[layer, head] for layer, head in _places(self.counts)]))


@dataclass(frozen=True)
class OverSentences:
    """One measure of one head over the sentences."""

    mean: float  # the mean over all rows
    deviation: float  # standard deviation of the sentences' means, weighted by their rows
    lowest: tuple[float, int]  # smallest of the sentences' means, and the first sentence with it
    highest: tuple[float, int]  # largest, likewise


@dataclass(frozen=True, eq=False)
class HeadSummary:
    """One head over all sentences."""

    place: Head
    role: str  # by its means over all rows, without rare words: which these are is known too late
    roles: Mapping[str, int]  # sentences with each role; "" where nothing dominates
    values: Mapping[str, OverSentences]  # by the names of `MEASURES`
    profile: Floats  # `[2 · REACH + 3]`, mean over all rows of what `offset_profile` gives
    varies: float  # √E‖p − p̄‖² of a sentence's profile: 0 where all are the same, below 1 always


@check_choices
def measure_heads(axes: LabelledWeights, kind: Kind) -> SentenceHeads:
    """Measure all heads of one kind on one sentence."""
    given, axes = axes, in_shares(axes)
    counts = tuple(axes.has_head.sum(-1).tolist())
    # how often a token stands in all sentences is not known yet
    measures = measure_sentence(given, kind, [0] * len(axes.labels.keys))
    values = {
        name: measures.values[name] if name in measures.values else measure(axes, kind, name)
        for name in SENTENCE_MEASURES
    }
    first = first_row(axes, kind)
    values[UNLIKE] = _unlike_others(axes, counts, first)
    return SentenceHeads(
        counts=counts,
        rows=len(axes.labels.queries) - first,
        measures=measures,
        values=values,
        profile=offset_profile(axes, kind),
        roles=head_roles(in_shares(given, fill=False), kind),
    )


@check_choices
def offset_profile(axes: LabelledWeights, kind: Kind) -> Floats:
    """Average the weight at each relative position, key minus query, over the rows that count.

    `[layer, head, 2 · REACH + 3]`: all weight farther back than -REACH, that at -REACH, …, at 0, …,
    at REACH, and all that lies farther on. It sums to what a row sums to.
    """
    first = first_row(axes, kind)
    profiles = []
    for layer in axes.weights:
        rows = layer[:, first:].astype(np.float64)  # [head, row, key]; row 0 is query `first`
        near = [
            np.diagonal(rows, first + distance, -2, -1).sum(-1)
            for distance in range(-REACH, REACH + 1)
        ]
        back = np.tril(rows, first - REACH - 1).sum((-2, -1))
        ahead = np.triu(rows, first + REACH + 1).sum((-2, -1))
        profiles.append(np.stack([back, *near, ahead], axis=-1) / rows.shape[1])
    return np.stack(profiles)


def _unlike_others(axes: LabelledWeights, counts: Sequence[int], first: int) -> Floats:
    """Compute the total variation of each head's rows and the mean rows of all others, or 0."""
    unlike: Floats = np.zeros(axes.weights.shape[:2])
    others = sum(counts) - 1
    if not others:
        return unlike
    total = np.zeros((axes.weights.shape[2] - first, axes.weights.shape[3]))  # [row, key]
    for layer, count in enumerate(counts):
        total += axes.weights[layer, :count, first:].sum(0, dtype=np.float64)
    for layer, head in _places(counts):
        own = axes.weights[layer, head, first:]
        unlike[layer, head] = total_variation(own, (total - own) / others)
    return unlike


@check_choices
class CorpusSummary:
    """Running sums (West 1979) of the heads of one kind over all sentences that were added."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.sentences = 0
        self.counts: tuple[int, ...] = ()
        self._means: dict[str, _WeightedMean] = {}
        self._profile = _WeightedMean()
        self._offsets: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._offset_rows = 0
        self._roles: dict[tuple[int, int], Counter[str]] = {}
        self._extremes: dict[str, _Extremes] = {name: _Extremes() for name in MEASURES}

    def add(self, number: int, heads: SentenceHeads) -> None:
        """Count one sentence, whose number is for the lowest and the highest.

        Raises:
            ValueError: if there are other heads.
        """
        if not self.sentences:
            self.counts = heads.counts
            self._offsets = np.zeros(heads.measures.offset_counts.shape, np.int64)
            self._roles = {place: Counter() for place in _places(heads.counts)}
        if heads.counts != self.counts:
            raise ValueError(f"heads {heads.counts} after {self.counts}")
        self.sentences += 1
        for name, value in {**heads.measures.values, **heads.values}.items():
            self._means.setdefault(name, _WeightedMean()).add(value, heads.rows)
        self._profile.add(heads.profile, heads.rows)
        self._offsets += heads.measures.offset_counts
        self._offset_rows += heads.measures.rows
        for name, extremes in self._extremes.items():
            extremes.add(number, heads.values[name])
        for (layer, head), roles in self._roles.items():
            roles[heads.roles[layer][head]] += 1

    def heads(self) -> list[HeadSummary]:
        """Summarise each head, by layer and number; none before the first sentence."""
        return [self._head(*place) for place in _places(self.counts)]

    def _head(self, layer: int, head: int) -> HeadSummary:
        at = (layer, head)
        return HeadSummary(
            place=Head(self.kind, layer, head),
            role=self._role(at),
            roles=dict(self._roles[at].most_common()),
            values={
                name: OverSentences(
                    float(self._means[name].mean[at]),
                    float(self._means[name].variance[at]) ** 0.5,
                    *extremes.head(at),
                )
                for name, extremes in self._extremes.items()
            },
            profile=self._profile.mean[at],
            varies=float(self._profile.variance[at].sum()) ** 0.5,
        )

    def _role(self, at: tuple[int, int]) -> str:
        means = {name: float(mean.mean[at]) for name, mean in self._means.items()}
        offset = int(most_frequent_offsets(self._offsets)[at])
        at_best = self._offsets[at][offset + MAX_OFFSET]
        means |= {"positional": at_best / self._offset_rows, "rare word": 0.0}
        return corpus_role(means, self.kind, offset)


class _WeightedMean:
    """Mean and variance of arrays that come one after another, with their weights."""

    def __init__(self) -> None:
        self.weight = 0.0
        self.mean: Floats = np.zeros(())
        self._squares: Floats = np.zeros(())

    def add(self, value: Floats, weight: float) -> None:
        self.weight += weight
        apart = value - self.mean
        self.mean = self.mean + apart * (weight / self.weight)
        self._squares = self._squares + weight * apart * (value - self.mean)

    @property
    def variance(self) -> Floats:
        return np.asarray(self._squares / self.weight)


class _Extremes:
    """The smallest and the largest value of each head, and the sentences that have them."""

    def __init__(self) -> None:
        self._extremes: list[tuple[Floats, npt.NDArray[np.int64]]] = []

    def add(self, number: int, value: Floats) -> None:
        here = np.full(value.shape, number)
        if not self._extremes:
            self._extremes = [(value, here), (value, here)]
            return
        self._extremes = [
            (np.where(better, value, end), np.where(better, here, numbers))
            for (end, numbers), better in zip(
                self._extremes,
                (value < self._extremes[0][0], value > self._extremes[1][0]),
                strict=True,
            )
        ]

    def head(self, at: tuple[int, int]) -> tuple[tuple[float, int], tuple[float, int]]:
        (low, lowest), (high, highest) = self._extremes
        return (float(low[at]), int(lowest[at])), (float(high[at]), int(highest[at]))


def _places(counts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """List layer and head of each, both from 0."""
    return ((layer, head) for layer, count in enumerate(counts) for head in range(count))
