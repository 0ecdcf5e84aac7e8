from typing import get_args

from transformer.kinds import Kind
from viz.draw.labels import AXIS_TITLES, shown


def test_a_piece_that_begins_a_word_is_plain_and_one_that_goes_on_is_marked():
    assert shown(("▁tief", "en", "▁Schnee", ".", "</s>")) == [
        "tief",
        "·en",
        "Schnee",
        ".",
        "</s>",
    ]


def test_whole_words_are_left_alone():
    assert shown(("Two", "dogs", ".")) == ["Two", "dogs", "."]


def test_nothing_stays_without_a_label():
    assert shown(("▁", "▁a", "")) == ["␣", "a", "␣"]


def test_two_tokens_never_become_one():
    tokens = ("▁en", "en", "<s>")
    assert len(set(shown(tokens))) == 3


def test_every_kind_has_its_axes_in_words():
    assert set(AXIS_TITLES) == set(get_args(Kind))
    assert AXIS_TITLES["cross"] == ("German: what the row writes", "English: where it looks")
