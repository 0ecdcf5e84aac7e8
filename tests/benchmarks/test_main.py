"""Benchmarks refuse numbers that measure nothing."""

import pytest

from benchmarks import __main__
from benchmarks.app import MOST


@pytest.mark.parametrize(
    "asked",
    [
        "training --turns 0",
        "readers --readers 1 0",
        "readers --seconds nan",
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
