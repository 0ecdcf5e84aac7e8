"""Whole numbers on a command line, and one sentence on all else."""

import argparse

import pytest

from transformer.arguments import whole_number


def test_numbers_of_the_range_are_taken_both_ends_included() -> None:
    assert [whole_number(1, 64)(text) for text in ("1", "64")] == [1, 64]
    assert whole_number(1)("1000000") == 1_000_000


@pytest.mark.parametrize("text", ["0", "65", "-1", "1.5", "four", "", "²", "9" * 5_000])
def test_all_else_is_refused_with_the_range(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"must be a whole number from 1 to 64$"):
        whole_number(1, 64)(text)


def test_a_range_may_be_open() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"'0' must be .* of at least 1$"):
        whole_number(1)("0")
