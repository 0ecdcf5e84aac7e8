"""Table 1 as numbers."""

import numpy as np
import pytest

from transformer.analysis.paper.costs import (
    CONVOLUTIONAL,
    LAYERS,
    RECURRENT,
    RESTRICTED,
    SELF_ATTENTION,
    Sizes,
    crossings,
    memory,
    work,
)

SIZES = Sizes(d=512, k=3, r=64, h=8)


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (SELF_ATTENTION, 100**2 * 512),
        (RECURRENT, 100 * 512**2),
        (CONVOLUTIONAL, 3 * 100 * 512**2),
        (RESTRICTED, 64 * 100 * 512),
    ],
)
def test_the_work_is_the_papers(layer: str, expected: int) -> None:
    assert work(layer, 100, SIZES) == expected
    n = np.array([80.0, 100.0, 4000.0])
    assert work(layer, n, SIZES)[1] == expected


def test_where_the_curves_cross_both_layers_do_the_same_work() -> None:
    at = crossings(SIZES)
    assert at == {RECURRENT: 512, CONVOLUTIONAL: 1536, RESTRICTED: 64}
    for layer, n in at.items():
        assert work(SELF_ATTENTION, n, SIZES) == work(layer, n, SIZES)
        assert work(SELF_ATTENTION, n + 1, SIZES) > work(layer, n + 1, SIZES)
    for layer in (RECURRENT, CONVOLUTIONAL):
        assert work(SELF_ATTENTION, at[layer] - 1, SIZES) < work(layer, at[layer] - 1, SIZES)


def test_a_neighbourhood_is_never_larger_than_the_sentence() -> None:
    for quantity in (work, memory):
        assert quantity(RESTRICTED, 10, SIZES) == quantity(SELF_ATTENTION, 10, SIZES)


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (SELF_ATTENTION, 100 * 512 + 8 * 100 * 100),
        (RECURRENT, 100 * 512),
        (CONVOLUTIONAL, 100 * 512),
        (RESTRICTED, 100 * 512 + 8 * 100 * 64),
    ],
)
def test_only_attention_keeps_a_weight_for_each_pair(layer: str, expected: int) -> None:
    assert memory(layer, 100, SIZES) == expected
    assert set(LAYERS) == {SELF_ATTENTION, RECURRENT, CONVOLUTIONAL, RESTRICTED}
