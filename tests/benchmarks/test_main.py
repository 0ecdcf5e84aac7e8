"""Benchmarks refuse numbers that measure nothing, and report what was measured."""

import importlib
from operator import attrgetter

import pytest

from benchmarks import __main__
from benchmarks.age import Block, growth
from benchmarks.app import MOST
from benchmarks.parts import PARTS


@pytest.mark.parametrize(
    "asked",
    [
        "training --turns 0",
        "readers --readers 1 0",
        "readers --seconds nan",
        "age --pages 0",
        f"app --sentences {MOST // 2}",  # two pages, each warmed up, on one server that remembers
        "pages --clicks 0",
    ],
)
def test_numbers_that_measure_nothing_are_refused(
    asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        __main__.main(asked.split())
    assert stopped.value.code == 2
    assert f"argument {asked.split()[1]}: '{asked.split()[-1]}' must be" in capsys.readouterr().err


def test_growth_compares_the_last_fifth_with_the_second() -> None:
    warm_up = [Block(1, 1, 9_000, 0, 9, 9)] * 4
    early = [Block(2, 2, 500 + grown, 100 + grown, 0.2, 0.4) for grown in (0, 0, 300, 300)]
    late = [Block(3, 3, 1_100, 500, 0.2, 0.6)] * 4
    grown = growth([*warm_up, *early, *[Block(2, 2, 1, 0, 5, 5)] * 8, *late])
    assert grown == pytest.approx({"unbounded": 600 / 400, "p50": 1, "p95": 1.5})


@pytest.mark.parametrize("part", PARTS)
def test_the_functions_of_each_part_are_where_they_are_watched(part: str) -> None:
    module, names = PARTS[part]
    for name in names:
        assert callable(attrgetter(name)(importlib.import_module(module)))
