"""Measurements of every head and every sentence over many lines, their means and tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from transformer import choices, kinds
from transformer.analysis.heads.head import Head
from transformer.arrays import Floats, Ints, Singles
from transformer.corpus import corpus_roles, resampling

DIAGONAL, GRADIENT, COST = "diagonal", "gradient", "loss without"
ALIGNMENT_ERROR = "alignment error"
HEAD_MEASURES: dict[str, str] = {
    **corpus_roles.MEASURES,
    DIAGONAL: "how many tokens from the diagonal a row lies, on average",
    GRADIENT: "how much the loss depends on a gate of the head, in nats per subword",
    COST: "how much the loss grows without the head, in nats per subword",
    ALIGNMENT_ERROR: "share of wrong and missing word links, beside those of people",
}
"""Measures of a head on a sentence."""

ON_DEMAND = (GRADIENT, COST, ALIGNMENT_ERROR)
"""Measures that are there only where they were asked for."""

LOG_P, LEAST_CERTAIN, SUBWORDS = "log p per subword", "least certain subword", "subwords"
UNLINKED, ON_SINKS = "words without a link", "weight on sinks"
SOURCE_SHARE, LEAST_SHARE = "share of the source", "least share of the source"
UNUSED, LEAST_USED = "unused words", "least used word"
SENTENCE_MEASURES: dict[str, str] = {
    LOG_P: "log probability of the translation, in nats, divided by its subwords",
    LEAST_CERTAIN: "log probability of the subword that the model was least sure of, in nats",
    SUBWORDS: "subwords of the translation, its end included",
    UNLINKED: "share of the written words that no word of the source is linked with",
    ON_SINKS: "share of cross-attention on tokens without text, mean over all heads",
    SOURCE_SHARE: "share of the written words that comes from the source (ALTI+), mean",
    LEAST_SHARE: "that share in the written word where it is smallest",
    UNUSED: "source words whose largest share in a written word is at most 6 %",
    LEAST_USED: "the largest share in a written word of the source word that is used least",
}
"""Measures of a sentence and its translation. NaN is what is not defined, as the share of the
words where there is none, and those by ALTI+ where it was not computed."""


class LinePair(NamedTuple):
    """A line with its translation."""

    number: int  # of the line in the text, from 1
    source: str  # text of the line
    target: str  # text of the translation
    source_ids: tuple[int, ...]  # token ids that the encoder reads
    target_ids: tuple[int, ...]  # token ids that the decoder writes
    reference: str = ""  # translation by people, where there is one


class LeftOut(NamedTuple):
    """A line that was not measured."""

    number: int  # of the line in the text, from 1
    reason: str  # plain sentence


@dataclass(frozen=True, eq=False)
class MeasuredLines:
    """All heads of one model on many lines."""

    checksum: str  # SHA-256 of the weights
    pairs: tuple[LinePair, ...]
    left_out: tuple[LeftOut, ...]
    heads: tuple[Head, ...]  # of the model, by kind, layer and number
    rows: Mapping[kinds.Kind, Floats]  # that were counted, `[sentence]`
    # By the names of `HEAD_MEASURES`, `[sentence, head]`, NaN where the kind has no such measure;
    # those of `ON_DEMAND` only where they were asked for.
    head_values: Mapping[str, Singles]
    sentence_values: Mapping[str, Floats]  # by the names of `SENTENCE_MEASURES`, `[sentence]`
    offset_counts: Ints  # `[head, 2 · MAX_OFFSET + 1]`, of the largest weight

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def places(self) -> dict[Head, int]:
        """The column of each head."""
        return {place: column for column, place in enumerate(self.heads)}

    @property
    def undefined(self) -> list[LeftOut]:
        """Measures of a sentence that are not defined for a line, with the reason."""
        unlinked, used, shares = (
            np.isnan(self.sentence_values[name]) for name in (UNLINKED, LEAST_USED, SOURCE_SHARE)
        )
        sides = ((UNLINKED, "Its translation", unlinked), (LEAST_USED, "It", used & ~shares))
        return [
            LeftOut(self.pairs[row].number, f"{side} has no word, so “{name}” is not defined.")
            for name, side, rows in sides
            for row in np.flatnonzero(rows)
        ]

    @property
    def subwords(self) -> Floats:
        """Written subwords of each sentence, `[sentence]`."""
        return self.sentence_values[SUBWORDS]

    @property
    def log_probs(self) -> Floats:
        """The log P of each translation, `[sentence]`, in nats."""
        return self.sentence_values[LOG_P] * self.subwords

    @property
    def offsets(self) -> Ints:
        """The offset with the most maxima of each head, `[head]`."""
        return corpus_roles.most_frequent_offsets(self.offset_counts)

    @choices.check_choices
    def counts(self, name: str, kind: kinds.Kind) -> Floats:
        """Return what each sentence counts in the mean of a head's measure, `[sentence]`."""
        if name in (GRADIENT, ALIGNMENT_ERROR):
            return np.ones(len(self))
        return self.subwords if name == COST else self.rows[kind]

    def values_of(self, place: Head, name: str) -> Singles:
        """Return a measure of one head, `[sentence]`."""
        return self.head_values[name][:, self.places[place]]

    def measures_of(self, places: Sequence[Head]) -> list[str]:
        """List the measures that all of these heads have."""
        columns = [self.places[place] for place in places]
        return [
            name
            for name, values in self.head_values.items()
            if len(values) and not np.isnan(values[0, columns]).any()
        ]


SEED = 0


@dataclass(frozen=True, eq=False)
class HeadMeans:
    """Means of every head over the lines."""

    # by the names of `HEAD_MEASURES`, each with its 95 % interval, `[head]`; NaN where the kind has
    # no such measure
    values: Mapping[str, resampling.Interval]
    roles: tuple[str, ...]  # the role of each head, "" where nothing dominates
    # by measure of `TESTED`, p of the hypothesis that the mean is 0, corrected for all heads,
    # `[head]`
    p: Mapping[str, Floats]


TESTED = (COST,)  # measures of which 0 says that the head does nothing


def head_means(lines: MeasuredLines, seed: int = SEED) -> HeadMeans:
    """Average measures over all rows, gradients over sentences and the loss over subwords."""
    weights = resampling.resampled_weights(len(lines), seed)
    values = {name: _means(lines, name, weights) for name in lines.head_values}
    ps = {
        name: resampling.holm(
            resampling.permutation_p(lines.head_values[name] * lines.subwords[:, None], seed)
        )
        for name in TESTED
        if name in lines.head_values
    }
    roles = []
    for column, (place, offset) in enumerate(zip(lines.heads, lines.offsets, strict=True)):
        means = {name: float(interval.value[column]) for name, interval in values.items()}
        known = {name: mean for name, mean in means.items() if not np.isnan(mean)}
        roles.append(corpus_roles.corpus_role(known, place.kind, int(offset)))
    return HeadMeans(values, tuple(roles), ps)


def _means(lines: MeasuredLines, name: str, weights: Floats) -> resampling.Interval:
    parts = []
    for kind in kinds.KINDS:
        columns = [n for n, head in enumerate(lines.heads) if head.kind == kind]
        values = lines.head_values[name][:, columns].astype(np.float64)
        parts.append(resampling.mean_interval(values, weights, lines.counts(name, kind)))
    return resampling.Interval(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def places_table(places: Iterable[Any]) -> pd.DataFrame:
    """Return one row for each place of a head, a named tuple, with its numbers from 1."""
    table = pd.DataFrame([place._asdict() for place in places])
    return table.assign(**(table.select_dtypes("number") + 1))


def heads_table(lines: MeasuredLines, means: HeadMeans) -> pd.DataFrame:
    """Return one row a head: its place from 1, its role, and each measure with its interval."""
    table: dict[str, Any] = {"role": means.roles, "offset of the maxima": lines.offsets}
    for name, interval in means.values.items():
        for suffix, column in zip(("", " low", " high"), interval, strict=True):
            table[f"{name}{suffix}"] = column
        if name in means.p:
            table[f"{name} p"] = means.p[name]
    return places_table(lines.heads).assign(**table)


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
