"""Numbers that people write: the same examples are read in the browser (tests/js)."""

import json
from pathlib import Path

import pytest

from viz.lessons.numbers import read_numbers

READ = json.loads((Path(__file__).parent / "numbers.json").read_text("utf-8"))


@pytest.mark.parametrize("text", READ)
def test_a_number_is_read_as_people_write_it(text):
    assert list(read_numbers(text)) == pytest.approx(READ[text], rel=1e-12)


def test_an_endless_text_is_read_at_once():
    assert read_numbers("1 " * 50_000 + "x") == ()
    assert read_numbers("9" * 9_000) == (float("inf"),)
