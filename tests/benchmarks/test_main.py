"""Benchmarks refuse, in one sentence, numbers with which there is nothing to measure."""

import statistics

import pytest

from benchmarks import __main__, readers
from benchmarks.app import MOST, sentences


@pytest.mark.parametrize(
    "asked",
    [
        "training --turns 0",
        "readers --readers 1 0",
        "readers --seconds nan",
        f"app --sentences {MOST // 2}",  # two pages, each warmed up, on one server that remembers
    ],
)
def test_numbers_that_measure_nothing_are_refused(
    asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        __main__.main(asked.split())
    assert stopped.value.code == 2
    assert f"argument {asked.split()[1]}: '{asked.split()[-1]}' must be" in capsys.readouterr().err


def test_no_sentence_of_the_app_is_shown_twice() -> None:
    assert len(set(sentences(MOST))) == MOST
    assert {len(text.split()) for text in sentences(MOST)} == {20}


def test_no_wait_is_told_beyond_the_longest_that_was_measured() -> None:
    assert readers._shown([0.1, 0.2, 0.3, 0.9]) == "0.25 s (largest 0.90)"
    waits = [0.01 * n for n in range(100)]
    assert readers._shown(waits) == f"{statistics.median(waits):.2f} s (95 % within 0.94)"
    assert "within 1.00" in readers._shown([0.0] * 18 + [1.0] * 2)
