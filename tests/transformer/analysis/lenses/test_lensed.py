"""A trace through a lens: the same sentence, each value as its share of its row."""

import numpy as np
import pytest

from transformer import KINDS, InputError
from transformer.analysis.lenses import HAS_HEADS, NAMES, as_rows, lens
from transformer.analysis.lenses.lensed import lensed


@pytest.fixture(scope="module")
def trace(translator):
    return translator.trace("The dog sleeps in the garden.", "Der Hund schläft im Garten.")


@pytest.mark.parametrize("name", NAMES)
def test_each_kind_holds_the_rows_of_its_own_lens(translator, trace, name) -> None:
    told: list[tuple[int, int]] = []
    found = lensed(name, translator, trace, progress=lambda *done: told.append(done))
    assert found.source_pieces == trace.source_pieces
    assert found.log_probs is trace.log_probs
    for kind in KINDS:
        expected = as_rows(lens(name, translator, trace, kind))
        if name not in HAS_HEADS:
            expected = expected[:, None]
        if name == "weights":
            expected = trace.weights(kind)
        np.testing.assert_array_equal(found.weights(kind), expected)
    # one step after another, and the last one is the end
    assert [done for done, _ in told] == list(range(1, len(told) + 1))
    assert all(of == len(told) for _, of in told)
    assert bool(told) == (name != "weights")


def test_a_lens_that_is_not_there_is_said(translator, trace) -> None:
    with pytest.raises(InputError, match="no lens 'nonsense': choose one of weights, norm"):
        lensed("nonsense", translator, trace)  # type: ignore[arg-type]
