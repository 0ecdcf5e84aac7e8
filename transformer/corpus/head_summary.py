"""Summary of each head over many sentences: one pass, in memory that does not grow with them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from transformer import choices, kinds
from transformer.analysis import sinks
from transformer.analysis.axes import LabelledWeights
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import MEASURES as SENTENCE_MEASURES
from transformer.analysis.heads.measures import in_shares, measure, total_variation
from transformer.arrays import Floats, Ints
from transformer.corpus import corpus_roles

REACH = 8  # the farthest relative position that has a column of its own in a profile

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
    # means over these rows by `MEASURES`, and by `corpus_roles.MEASURES` for roles, `[layer, head]`
    values: Mapping[str, Floats]
    offset_counts: npt.NDArray[np.int16]  # of `SentenceMeasures`
    profile: Floats  # `[layer, head, 2 · REACH + 3]`, as `offset_profile` gives it

    @property
    def unlike(self) -> float:
        """The mean distance of a head from the others of its kind."""
        values = self.values[UNLIKE]
        return float(np.mean([values[layer, head] for layer, head in _places(self.counts)]))


@dataclass(frozen=True, eq=False)
class HeadSummary:
    """One head over all sentences."""

    place: Head
    role: str  # by its means over all rows, without rare words: which these are is known too late
    # by the names of `MEASURES`, the mean over all rows, and the standard deviation of the
    # sentences' means, weighted by their rows
    values: Mapping[str, tuple[float, float]]
    profile: Floats  # `[2 · REACH + 3]`, mean over all rows of what `offset_profile` gives
    varies: float  # √E‖p − p̄‖² of a sentence's profile: 0 where all are the same, below 1 always


@choices.check_choices
def measure_heads(axes: LabelledWeights, kind: kinds.Kind) -> SentenceHeads:
    """Measure all heads of one kind on one sentence."""
    given, axes = axes, in_shares(axes)
    counts = tuple(axes.existing_heads.sum(-1).tolist())
    # how often a token stands in all sentences is not known yet
    measures = corpus_roles.measure_sentence(given, kind, [0] * len(axes.labels.keys))
    values = {**measures.values}
    for name in SENTENCE_MEASURES:  # in one order, by which the sums are held
        if name not in values:
            values[name] = measure(axes, kind, name)
    first = sinks.first_row(axes, kind)
    values[UNLIKE] = _unlike_others(axes, counts, first)
    return SentenceHeads(
        counts=counts,
        rows=len(axes.labels.queries) - first,
        values=values,
        offset_counts=measures.offset_counts,
        profile=offset_profile(axes, kind),
    )


@choices.check_choices
def offset_profile(axes: LabelledWeights, kind: kinds.Kind) -> Floats:
    """Average the weight at each relative position, key minus query, over the rows that count.

    `[layer, head, 2 · REACH + 3]`: all weight farther back than -REACH, that at -REACH, …, at 0, …,
    at REACH, and all that lies farther on. It sums to what a row sums to.
    """
    first = sinks.first_row(axes, kind)
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


@choices.check_choices
class CorpusSummary:
    """Running sums of the heads of one kind over all sentences that were added."""

    def __init__(self, kind: kinds.Kind) -> None:
        self.kind = kind
        self.counts: tuple[int, ...] = ()
        self._names: list[str] = []
        self._rows = 0
        # over the rows, of each measure and each part of the profile and of its square:
        # `[2, layer, head, number]`
        self._sums: Floats = np.zeros(())
        self._offsets: Ints = np.zeros((), np.int64)

    def add(self, heads: SentenceHeads) -> None:
        """Count one sentence; other heads than before raise ValueError."""
        if heads.counts != (self.counts or heads.counts):
            raise ValueError(f"heads {heads.counts} after {self.counts}")
        values = np.stack([*heads.values.values()], -1)
        values = np.concatenate([values, heads.profile], -1)  # [layer, head, number]
        self.counts, self._names = heads.counts, [*heads.values]
        self._rows += heads.rows
        self._sums = self._sums + heads.rows * np.stack([values, values**2])
        self._offsets = self._offsets + heads.offset_counts

    def heads(self) -> list[HeadSummary]:
        """Summarise each head, by layer and number; none before the first sentence."""
        if not self.counts:
            return []
        mean, square = self._sums / self._rows
        variance = np.maximum(square - mean**2, 0)
        offsets, count = corpus_roles.most_frequent_offsets(self._offsets), len(self._names)
        at_best = self._offsets.max(-1) / self._rows
        summaries = []
        for at in _places(self.counts):
            means = dict(zip(self._names, mean[at].tolist(), strict=False))
            deviations = dict(zip(self._names, (variance[at] ** 0.5).tolist(), strict=False))
            known = means | {"positional": float(at_best[at]), "rare word": 0.0}
            summaries.append(
                HeadSummary(
                    place=Head(self.kind, *at),
                    role=corpus_roles.corpus_role(known, self.kind, int(offsets[at])),
                    values={name: (means[name], deviations[name]) for name in MEASURES},
                    profile=mean[at][count:],
                    varies=float(variance[at][count:].sum() ** 0.5),
                )
            )
        return summaries


def _places(counts: Sequence[int]) -> Iterator[tuple[int, int]]:
    return ((layer, head) for layer, count in enumerate(counts) for head in range(count))
