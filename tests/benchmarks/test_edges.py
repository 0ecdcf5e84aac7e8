"""Edges of one sentence matter in others of its construction, unless the weights are random."""

import pytest

from benchmarks.circuits import carried_over, choices_of, untrained
from transformer import Translator
from transformer.circuits.pairs import BUNDLED_PAIRS, read_pairs

pytestmark = pytest.mark.slow


def test_edges_are_carried_over_by_the_trained_model_and_not_by_random_weights(
    bundled: Translator,
) -> None:
    pairs = read_pairs(BUNDLED_PAIRS["English"].read_bytes())
    # articles: edges to “Mein” are patched in the choice of “Der” and of “Das”, and back
    choices = [*choices_of(bundled, [pairs[n] for n in (0, 2, 7)])]
    assert carried_over(bundled.model, choices).mean() > 0.3
    model = untrained(bundled.model, seed=1)
    assert abs(carried_over(model, choices).mean()) < 0.15
