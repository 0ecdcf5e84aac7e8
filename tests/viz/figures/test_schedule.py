"""The rates that are drawn are those of the formula, the paper's spot values included."""

import numpy as np
import pytest

from viz.figures.schedule import paper_rate, peak_rate, sample_steps

LAST = 40_000


@pytest.mark.parametrize(("d_model", "warmup"), [(512, 4000), (64, 10)])
def test_each_point_is_equation_3(d_model: int, warmup: int) -> None:
    steps = sample_steps(LAST, warmup)
    s = steps.astype(np.float64)
    expected = d_model**-0.5 * np.minimum(s**-0.5, s * warmup**-1.5)
    np.testing.assert_allclose(paper_rate(steps, d_model, warmup), expected, rtol=1e-12)


def test_the_peak_is_the_papers_and_is_on_the_curve() -> None:
    assert peak_rate(512, 4000) == pytest.approx(6.99e-4, rel=1e-3)
    steps = sample_steps(LAST, 4000, 99_999)
    assert (steps[0], steps[-1]) == (1, LAST)
    assert (np.diff(steps) > 0).all()
    rates = paper_rate(steps, 512, 4000)
    assert steps[rates.argmax()] == 4000
    assert rates.max() == pytest.approx(peak_rate(512, 4000), rel=1e-12)
