"""Merged parts have the same sum, and the heads with most of the score stay apart."""

import numpy as np
import pytest

from transformer.analysis.heads.head import Head
from transformer.circuits.merging import HEADS, NETWORKS, OTHER_HEADS, merge_parts
from transformer.circuits.score import SplitScores
from transformer.circuits.stream import Writer

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


@pytest.mark.parametrize("detail", ["heads", "layers"])
def test_merged_parts_have_the_same_sum(detail) -> None:
    values = np.random.default_rng(1).normal(size=(1, len(WRITERS), len(WRITERS)))
    values[0, 4] *= 100  # encoder L1 H2
    split = SplitScores(WRITERS, WRITERS, values, values.sum((1, 2)))
    merged = merge_parts(split, values[0], detail)
    assert merged.values.sum() == pytest.approx(values.sum())
    heads = [n for n, writer in enumerate(WRITERS) if writer.head is not None]
    networks = [n for n, writer in enumerate(WRITERS) if writer.part == "feed-forward"]
    row = values[0].sum(1)
    by_query = dict(zip(merged.query_parts, merged.values.sum(1), strict=True))
    if detail == "heads":
        assert by_query["encoder L1 H2"] == pytest.approx(row[4])
        assert by_query[NETWORKS] == pytest.approx(row[networks].sum())
        assert len(by_query) == 3 + HEADS + 2
        amounts = np.abs(values[0]).sum(1)
        least = sorted(heads, key=amounts.__getitem__)[: len(heads) - HEADS]
        assert by_query[OTHER_HEADS] == pytest.approx(row[least].sum())
    else:
        assert by_query["encoder L1 heads"] == pytest.approx(row[heads[:4]].sum())
        assert by_query["encoder L3 feed-forward"] == pytest.approx(row[networks[2]])
        assert len(by_query) == 3 + 2 * LAYERS
    query, _, value = merged.largest(1)[0]
    assert query == ("encoder L1 H2" if detail == "heads" else "encoder L1 heads")
    assert abs(value) == np.abs(merged.values).max()
