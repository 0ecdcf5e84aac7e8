"""Edges of one sentence matter in others of its construction, unless the weights are random."""

import pytest

from benchmarks.edges import carried_over, choices_of, untrained
from transformer import Translator
from transformer.circuits.edges import Circuit, patch_strongest
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
    # although there, too, the strongest edges exceed random ones
    _, trace, step, pieces = choices[0]
    patched = patch_strongest(Circuit(model, trace, step, pieces[1]))
    assert patched.beat_random.mean() > 0.9
    assert patched.correlation > 0.9
