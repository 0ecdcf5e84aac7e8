"""Parts of a split score, merged to as many as a reader can take in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from transformer.circuits.score import SplitScores
from transformer.circuits.stream import Writer
from transformer.kinds import KIND_NAMES

Floats: TypeAlias = npt.NDArray[np.float64]
Detail: TypeAlias = Literal["heads", "layers"]

OTHER_HEADS, NETWORKS = "other heads", "feed-forward networks"
HEADS = 8
"""Heads of each side that stay apart, those with most of the score."""


@dataclass(frozen=True, eq=False)
class MergedScore:
    """One score, or the difference of two, by parts of query and key; it has the same sum."""

    query_parts: tuple[str, ...]
    key_parts: tuple[str, ...]
    values: Floats  # `[query part, key part]`

    def largest(self, count: int) -> list[tuple[str, str, float]]:
        """List the cells with the largest absolute values: query part, key part and value."""
        order = np.argsort(-np.abs(self.values), axis=None, kind="stable")[:count]
        places = zip(*np.unravel_index(order, self.values.shape), strict=True)
        return [
            (self.query_parts[a], self.key_parts[b], float(self.values[a, b])) for a, b in places
        ]


def merge_parts(split: SplitScores, values: npt.ArrayLike, detail: Detail = "heads") -> MergedScore:
    """Merge `[query writer, key writer]` of a split to parts with names.

    With `layers`, the heads of each layer become one part. With `heads`, those that have least of
    the score do, and the feed-forward networks.
    """
    cells = np.asarray(values, dtype=np.float64)
    query_names, key_names = (
        _names(writers, np.abs(cells).sum(1 - side), detail)
        for side, writers in enumerate((split.query_writers, split.key_writers))
    )
    queries, query_parts = _summing(query_names)
    keys, key_parts = _summing(key_names)
    return MergedScore(query_parts, key_parts, queries @ cells @ keys.T)


def _names(writers: Sequence[Writer], amounts: Floats, detail: Detail) -> list[str]:
    """Name the part that each writer belongs to."""
    heads = [n for n, writer in enumerate(writers) if writer.head is not None]
    apart = sorted(heads, key=lambda n: -amounts[n])[:HEADS]
    if len(heads) == HEADS + 1:  # a rest of one head has a name
        apart = heads

    def name(place: int, writer: Writer) -> str:
        if writer.part == "feed-forward" and detail == "heads":
            return NETWORKS
        if writer.head is None:
            return writer.title
        if detail == "layers":
            return f"{KIND_NAMES[writer.head.kind]} L{writer.head.layer + 1} heads"
        return writer.title if place in apart else OTHER_HEADS

    return [name(*pair) for pair in enumerate(writers)]


def _summing(names: Sequence[str]) -> tuple[Floats, tuple[str, ...]]:
    """Return the matrix that sums writers of the same name, `[part, writer]`, and the names."""
    parts = sorted(dict.fromkeys(names), key=(OTHER_HEADS, NETWORKS).__contains__)
    parts.sort(key=NETWORKS.__eq__)
    return np.array([[name == part for name in names] for part in parts], dtype=float), tuple(parts)
