"""Merged parts have the same sum, and the heads with most of the score stay apart."""

import numpy as np
import pytest

from transformer.analysis.heads.head import Head
from transformer.analysis.stream import Writer
from transformer.circuits.merging import HEADS, NETWORKS, OTHER_HEADS, merge_parts
from transformer.circuits.score import SplitScores

LAYERS = 3
WRITERS = (
    *(Writer("encoder", part) for part in ("token", "position", "biases")),
    *(
        writer
        for layer in range(LAYERS)
        for writer in (
            *(Writer("encoder", "head", layer, Head("encoder_self", layer, n)) for n in range(4)),
            Writer("encoder", "feed-forward", layer),
        )
    ),
)


def test_merged_parts_have_the_same_sum() -> None:
    values = np.random.default_rng(1).normal(size=(1, len(WRITERS), len(WRITERS)))
    values[0, 4] *= 100  # encoder L1 H2
    split = SplitScores(WRITERS, WRITERS, values, values.sum((1, 2)))
    merged = merge_parts(split, values[0])
    assert merged.to_numpy().sum() == pytest.approx(values.sum())
    heads = [n for n, writer in enumerate(WRITERS) if writer.head is not None]
    networks = [n for n, writer in enumerate(WRITERS) if writer.part == "feed-forward"]
    row, by_query = values[0].sum(1), merged.sum(axis="columns")
    assert by_query["encoder L1 H2"] == pytest.approx(row[4])
    assert by_query[NETWORKS] == pytest.approx(row[networks].sum())
    assert len(by_query) == 3 + HEADS + 2
    assert [*merged][-2:] == [*merged.index][-2:] == [OTHER_HEADS, NETWORKS]
    for side, parts in ((1, by_query), (0, merged.sum())):
        amounts = np.abs(values[0]).sum(side)
        least = sorted(heads, key=amounts.__getitem__)[: len(heads) - HEADS]
        assert parts[OTHER_HEADS] == pytest.approx(values[0].sum(side)[least].sum())
    query, key, value = split.largest(values[0], 1)[0]
    assert query.title == "encoder L1 H2"
    assert value == values[0, 4, WRITERS.index(key)]
    assert abs(value) == np.abs(values).max()
    nine = [writer for writer in WRITERS if writer.head is not None][: HEADS + 1]
    rest = SplitScores(tuple(nine), tuple(nine), values[:, :9, :9], values[0, :1, 0])
    assert [*merge_parts(rest, values[0, :9, :9])] == [writer.title for writer in nine]
