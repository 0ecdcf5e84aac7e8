"""Numbers that people write: the same examples are read in the browser (tests/js)."""

import json
from pathlib import Path

import pytest

from viz.lessons import Card
from viz.lessons.grading import Answer, is_right, missing, plain
from viz.lessons.lesson import Measurement
from viz.lessons.numbers import read_numbers

READ = json.loads((Path(__file__).parent / "numbers.json").read_text("utf-8"))


@pytest.mark.parametrize("text", READ)
def test_a_number_is_read_as_people_write_it(text):
    assert list(read_numbers(text)) == pytest.approx(READ[text], rel=1e-12)


def test_an_endless_text_is_read_at_once():
    assert read_numbers("1 " * 50_000 + "x") == ()
    assert read_numbers("9" * 9_000) == (float("inf"),)


@pytest.mark.parametrize(
    ("given", "right"),
    [("0.67", True), (".67", True), ("67 %", True), ("2/3", True), ("0.66", False)],
)
def test_what_is_shown_rounded_may_be_copied(given, right):
    card = Card("", "", 1, ask="?", answer=Measurement("weight", {}, 0.001))
    assert is_right(card, given, Answer("0.67", 2 / 3)) is right


def test_what_is_no_answer_is_asked_for_again():
    number = Card("", "", 1, ask="?", answer=Measurement("size", {}, 0))
    word = Card("", "", 1, ask="?", answer=Measurement("strongest", {}, 0))
    assert is_right(number, "8,000", Answer("8000", 8000.0))
    assert [missing(number, text) for text in ("8,000", "nine", " ", "?")] == [
        "", "number", "blank", "blank",
    ]  # fmt: skip
    changed = Card("", "", 1, ask="?", answer=Measurement("changed without heads", {}, 0))
    assert missing(word, "dogs") == missing(changed, "yes") == ""


def test_the_first_and_the_last_token_have_the_names_of_the_pictures() -> None:
    assert plain("</s>") == plain("End")
    assert plain("<s>") == plain("“start”") != plain("end")
