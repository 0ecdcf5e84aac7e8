"""Growth of a long-lived server, apart from noise and warm-up."""

import pytest

from benchmarks.age import Block, growth


def test_growth_compares_the_last_fifth_with_the_second() -> None:
    warm_up = [Block(1, 1, 9_000, 0, 9, 9)] * 4
    early = [Block(2, 2, 500 + grown, 100 + grown, 0.2, 0.4) for grown in (0, 0, 300, 300)]
    late = [Block(3, 3, 1_100, 500, 0.2, 0.6)] * 4
    grown = growth([*warm_up, *early, *[Block(2, 2, 1, 0, 5, 5)] * 8, *late])
    assert grown == pytest.approx({"unbounded": 600 / 400, "p50": 1, "p95": 1.5})
