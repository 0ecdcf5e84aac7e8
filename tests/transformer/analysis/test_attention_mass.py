"""Attention mass and its distances, against plain loops, and a planted sink."""

import math
from dataclasses import replace

import numpy as np
import pytest

from transformer.analysis.attention_mass import (
    distance_to_even,
    distance_to_lines,
    mass_distance,
    source_mass,
)


def looped(first: list[float], second: list[float]) -> float:
    """Move as many grains as both lengths divide, the smallest of each to the smallest."""
    grains = math.lcm(len(first), len(second))
    sides = [
        [mass * len(side) for mass in sorted(side) for _ in range(grains // len(side))]
        for side in (first, second)
    ]
    return math.fsum(abs(a - b) for a, b in zip(*sides, strict=True)) / grains / 2


def made(size: int, seed: int) -> np.ndarray:
    mass = np.random.default_rng(seed).random(size) ** 4
    return mass / mass.sum()


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 7), (3, 6), (7, 5), (12, 31), (512, 49)])
def test_the_distance_is_that_of_moved_grains(first: int, second: int) -> None:
    a, b = made(first, 1), made(second, 2)
    expected = looped(a.tolist(), b.tolist())
    assert mass_distance(a, b) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert mass_distance(b, a) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert mass_distance(a, a[::-1]) == pytest.approx(0, abs=1e-12)
    total_variation = math.fsum(abs(float(mass) - 1 / first) for mass in a) / 2
    assert distance_to_even(a) == pytest.approx(total_variation, abs=1e-12)


def test_the_mass_is_the_mean_of_what_each_token_receives(trace) -> None:
    layers, heads, queries, keys = trace.cross.shape
    for layer, chosen in ((None, range(layers)), (1, [1])):
        mass = source_mass(trace, layer)
        for key in range(keys):
            cells = [
                float(trace.cross[n, head, query, key])
                for n in chosen
                for head in range(heads)
                for query in range(queries)
            ]
            assert mass[key] == pytest.approx(math.fsum(cells) / len(cells), abs=1e-6)


def test_a_planted_sink_is_far_from_even_and_from_other_lines(trace) -> None:
    size = len(trace.source_pieces)
    sink, even = np.zeros_like(trace.cross), np.full_like(trace.cross, 1 / size)
    sink[..., -1] = 1
    planted, flat = (source_mass(replace(trace, cross=cross)) for cross in (sink, even))
    assert distance_to_even(planted) == pytest.approx(1 - 1 / size)
    assert distance_to_even(flat) == pytest.approx(0, abs=1e-6)
    others = [made(size, seed) for seed in range(6)]
    expected = sorted(looped(planted.tolist(), other.tolist()) for other in others)[:4]
    assert distance_to_lines(planted, others) == pytest.approx(math.fsum(expected) / 4)
