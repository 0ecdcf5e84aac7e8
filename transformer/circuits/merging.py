"""Parts of a split score, merged to as many as a reader can take in."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from transformer.arrays import AnyFloats
from transformer.circuits.score import SplitScores
from transformer.circuits.stream import Writer

OTHER_HEADS, NETWORKS = "other heads", "feed-forward networks"
HEADS = 8
"""Heads of each side that stay apart, those with most of the score."""


def merge_parts(split: SplitScores, values: AnyFloats) -> pd.DataFrame:
    """Sum `[query writer, key writer]` to query parts by key parts, named and with the same sum.

    The heads that have least of the score become one part, and so do the feed-forward networks.
    """
    amounts = np.abs(values)
    queries = _part_names(split.query_writers, amounts.sum(1))
    keys = _part_names(split.key_writers, amounts.sum(0))
    cells = pd.DataFrame(values.astype(np.float64), queries, keys)
    rows = cells.groupby(level=0, sort=False).sum()
    cells = rows.T.groupby(level=0, sort=False).sum().T
    return cells.reindex(_sums_last(cells.index), columns=_sums_last(cells.columns))


def _part_names(writers: Sequence[Writer], amounts: AnyFloats) -> list[str]:
    """Name the part that each writer belongs to."""
    heads = [n for n, writer in enumerate(writers) if writer.head is not None]
    apart = sorted(heads, key=lambda n: -amounts[n])[:HEADS]
    if len(heads) == HEADS + 1:  # a rest of one head has a name
        apart = heads

    def name(place: int, writer: Writer) -> str:
        if writer.part == "feed-forward":
            return NETWORKS
        return writer.title if writer.head is None or place in apart else OTHER_HEADS

    return [name(*pair) for pair in enumerate(writers)]


def _sums_last(parts: pd.Index) -> list[str]:
    """Sort names of parts; those that stand for several parts come last."""
    return sorted(parts, key=[OTHER_HEADS, NETWORKS].__contains__)
