"""Roles of the heads over many sentences, measured sentence by sentence from their weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from transformer import choices, kinds
from transformer.analysis import sinks
from transformer.analysis.axes import LabelledWeights
from transformer.analysis.heads import measures, roles
from transformer.arrays import Floats, Ints
from transformer.text import tokenizer

_KEPT_MEASURES = ("confidence", "entropy", "offset")
MEASURES: dict[str, str] = {
    **{name: measures.MEASURES[name] for name in _KEPT_MEASURES},
    "positional": "share of the rows whose largest weight lies at the offset that is most frequent",
    "sink": "share of the weight on the first token, the end token and punctuation",
    "rare word": "share of the rows whose largest weight lies on the least frequent token",
    "previous": "weight on the token before, beyond chance",
    "next": "weight on the token after, beyond chance",
    "itself": "weight on the position itself, beyond chance",
    "first": "weight on the first token, beyond chance",
    "end token": "weight on the end token, beyond chance",
    "punctuation": "weight on punctuation, beyond chance",
    "same word": "weight on the same word or its other subwords, beyond chance",
    "one-to-one": "weight on links in which row and token are each other's strongest, beyond "
    "chance; 0 where more than 30 % of their pairs cross",
    "spread": "entropy as a share of the largest possible one",
}
"""Beyond chance: 0 is what uniform attention puts there, 1 all of the weight."""

ROLES: dict[str, float] = {**roles.ROLE_THRESHOLDS, "spread": roles.SPREAD_THRESHOLD}
"""The mean over a corpus from which each role is given; the strongest, by its threshold, names."""

POSITIONAL, RARE_WORD = 0.9, 0.5
"""Voita et al. 2019, §5.1: a head is positional if at least 90 % of its maxima lie at one offset.
For rare words they give no threshold; half of the rows is our choice."""

MAX_OFFSET = 40  # maxima that lie farther off are counted in no bin of `offset_counts`


@dataclass(frozen=True, eq=False)
class SentenceMeasures:
    """The heads of one kind on one sentence."""

    rows: int  # that were counted
    # Means over these rows by the names of `MEASURES`, `[layer, head]` each; "positional" is
    # missing, since the most frequent offset is known after the last sentence.
    values: Mapping[str, Floats]
    # `[layer, head, 2 · MAX_OFFSET + 1]`, rows with their largest weight at each offset from
    # -MAX_OFFSET on; rows in which it is tied, or that see one key alone, have no direction and
    # are in no bin.
    offset_counts: npt.NDArray[np.int16]


@choices.check_choices
def measure_sentence(
    axes: LabelledWeights, kind: kinds.Kind, key_counts: Sequence[int]
) -> SentenceMeasures:
    """Measure all heads of one kind; `key_counts` has how often each key stands in the corpus."""
    given, axes = axes, measures.in_shares(axes)
    first = sinks.first_row(axes, kind)
    weights = axes.weights[:, :, first:]
    best = weights.argmax(-1)  # [layer, head, row]
    values = {name: measures.measure(axes, kind, name) for name in _KEPT_MEASURES}
    cells = roles.pattern_cells(axes, kind)
    sink = (cells["first"] | cells["end token"] | cells["punctuation"])[first:]
    values["sink"] = (weights * sink).sum(-1, dtype=np.float64).mean(-1)
    # rows that look most at the least frequent word that they may see
    queries, keys = axes.labels
    special = np.array([key in tokenizer.SPECIAL.values() for key in keys])
    visible = np.broadcast_to(~special, (len(queries), len(keys)))
    if axes.is_causal(kind):
        visible = np.tril(visible)
    seen = np.where(visible, np.asarray(key_counts), np.iinfo(np.int64).max)[first:]  # [row, key]
    rarest = (seen == seen.min(-1, keepdims=True)) & visible[first:]
    values["rare word"] = rarest[np.arange(len(rarest)), best].mean(-1)
    values |= roles.role_scores(measures.in_shares(given, fill=False), kind)
    is_largest = weights == weights.max(-1, keepdims=True)
    has_direction = (is_largest.sum(-1) == 1) & (len(keys) > 1)  # [layer, head, row]
    offsets = best - np.arange(first, len(queries))
    bins = np.arange(-MAX_OFFSET, MAX_OFFSET + 1)
    at_bin = (offsets[..., None] == bins) & has_direction[..., None]
    counts = at_bin.sum(-2).astype(np.int16)
    return SentenceMeasures(best.shape[-1], values, counts)


@choices.check_choices
def measures_of(kind: kinds.Kind) -> frozenset[str]:
    """Return the names of `MEASURES` that the heads of a kind have."""
    others = {"previous", "next", "itself"} if kind == "cross" else {"one-to-one"}
    return frozenset(MEASURES.keys() - others)


def most_frequent_offsets(counts: npt.NDArray[np.integer]) -> Ints:
    """Find the offset with the most maxima from the sum of `offset_counts`, `[layer, head]`."""
    return counts.argmax(-1) - MAX_OFFSET


@choices.check_choices
def corpus_role(values: Mapping[str, float], kind: kinds.Kind, offset: int) -> str:
    """Name the role of one head from its means over a corpus; "" where nothing dominates.

    A positional head of self-attention is "previous", "next" or "itself" where its offset is -1, 1
    or 0, and "positional" at any other.
    """
    if kind != "cross" and values["positional"] >= POSITIONAL:
        return {-1: "previous", 0: "itself", 1: "next"}.get(offset, "positional")
    strengths = {name: values[name] / least for name, least in ROLES.items() if name in values}
    strengths["rare word"] = values["rare word"] / RARE_WORD
    name = max(strengths, key=lambda name: strengths[name])
    return name if strengths[name] >= 1 else ""
