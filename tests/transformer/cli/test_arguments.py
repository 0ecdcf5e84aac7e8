"""Whole numbers on a command line, and one sentence on all else."""

import argparse

import pytest

from transformer.cli.arguments import Parser, number, whole_number


def test_numbers_of_the_range_are_taken_both_ends_included() -> None:
    assert [whole_number(1, 64)(text) for text in ("1", "64")] == [1, 64]
    assert whole_number(1)("1000000") == 1_000_000


@pytest.mark.parametrize("text", ["0", "65", "1.5", "²", "9" * 5_000])
def test_all_else_is_refused_with_the_range(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"must be a whole number from 1 to 64$"):
        whole_number(1, 64)(text)


def test_a_count_without_a_bound_of_its_own_can_still_be_computed_with() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"'0' .* from 1 to 1,000,000,000$"):
        whole_number(1)("0")
    with pytest.raises(argparse.ArgumentTypeError, match=r" from 1 to 1,000,000,000$"):
        whole_number(1)("1000000001")


@pytest.mark.parametrize("text", ["-0.1", "10.1", "nan", "one"])
def test_a_number_outside_its_range_is_refused(text: str) -> None:
    assert [number(0, 10)(inside) for inside in ("0", "0.6", "1e1")] == [0, 0.6, 10]
    with pytest.raises(argparse.ArgumentTypeError, match=r"must be a number from 0 to 10$"):
        number(0, 10)(text)


@pytest.mark.parametrize("word", ["--beam=--", "-b--"])
def test_an_option_whose_value_argparse_takes_away_is_refused(word, capsys):
    parser = Parser(prog="command")
    parser.add_argument("-b", "--beam", type=whole_number(1, 64))
    parser.add_argument("text", nargs="?")
    with pytest.raises(SystemExit) as left:
        parser.parse_args([word])
    assert left.value.code == 2
    assert "'--' is not a value" in capsys.readouterr().err
    assert parser.parse_args(["--", word]).text == word


def test_what_was_typed_is_quoted_on_one_short_line(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser(prog="command")
    parser.add_argument("--beam", type=whole_number(1, 64))
    for typed in ("x" * 10_000, "a b " * 5_000, "\x1b[31m\nA", "\udcff"):
        with pytest.raises(SystemExit) as left:
            parser.parse_args(["--beam", typed])
        assert left.value.code == 2
        message = capsys.readouterr().err.splitlines()[-1]
        assert message.startswith("command: error: argument --beam: ")
        assert message.isprintable()
        assert len(message) < 1_300
