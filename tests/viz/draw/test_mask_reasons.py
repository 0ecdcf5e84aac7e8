"""A row of a mask in words."""

import re

from viz.draw.labels import quoted
from viz.draw.mask_grids import REASONS, describe_row


def said(query, keys, whys):
    """Without the marks that keep a token's direction to itself."""
    return [re.sub("[\u2068\u2069]", "", text) for text in describe_row(query, keys, whys)]


def test_one_hidden_token_has_the_reason_of_one():
    assert said("the row of “Hund”", ["Der", "Hund", "rennt"], ["seen", "seen", "later"]) == [
        "The row of “Hund” may see “Der” and “Hund”.",
        "The row of “Hund” may not see “rennt”: it comes later.",
    ]


def test_several_share_a_sentence_and_padding_is_counted():
    keys = ["a", "b", "c", "d", "<pad>", "<pad>", "<pad>"]
    whys = ["seen", "later", "later", "later", "both", "both", "padding"]
    assert said("the row of “a”", keys, whys) == [
        "The row of “a” may see “a”.",
        "The row of “a” may not see “b”, “c” and “d”: they come later.",
        "The row of “a” may not see 2 × “<pad>”: they come later and are padding.",
        "The row of “a” may not see “<pad>”: it is padding.",
    ]


def test_the_same_word_twice_is_named_twice_where_another_stands_between():
    text = said("the row of “x”", ["a", "b", "a"], ["seen"] * 3)
    assert text == ["The row of “x” may see “a”, “b” and “a”."]


def test_a_token_keeps_its_direction_to_itself():
    assert quoted("שלום") == "“\u2068שלום\u2069”"


def test_one_and_several_are_told_apart_in_every_reason():
    for one, several in REASONS.values():
        assert one.startswith("it ")
        assert several.startswith("they ")
