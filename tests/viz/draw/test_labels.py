from typing import get_args

import pytest

from transformer.kinds import Kind
from transformer.text.languages import OURS, Languages
from viz.draw.labels import axis_titles, display_tokens


def test_a_piece_that_begins_a_word_is_plain_and_one_that_goes_on_is_marked():
    assert display_tokens(("▁tief", "en", "▁Schnee", ".", "</s>")) == [
        "tief",
        "·en",
        "Schnee",
        ".",
        "</s>",
    ]


def test_whole_words_are_left_alone():
    assert display_tokens(("Two", "dogs", ".")) == ["Two", "dogs", "."]


def test_nothing_stays_without_a_label():
    assert display_tokens(("▁", "▁a", "")) == ["␣", "a", "␣"]


def test_two_tokens_never_become_one():
    tokens = ("▁en", "en", "<s>")
    assert len(set(display_tokens(tokens))) == 3


@pytest.mark.parametrize(
    ("languages", "by_read", "rows", "columns"),
    [
        (OURS, False, "German: what the row writes", "English: where it looks"),
        (OURS, True, "German: what the row reads", "English: where it looks"),
        (Languages("French", "Finnish"), True, "Finnish: what the row reads", "French"),
        (Languages("", ""), False, "Target: what the row writes", "Source: where it looks"),
        (Languages("English", "", ("fra",)), False, "Target: what the row writes", "English"),
    ],
)
def test_the_axes_of_cross_attention_name_both_languages(
    languages: Languages, by_read: bool, rows: str, columns: str
) -> None:
    titles = axis_titles("cross", languages, by_read=by_read, alone=True)
    assert titles.rows == rows
    assert titles.columns.startswith(columns)


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
def test_the_axes_of_self_attention_name_one_language_or_none(kind: Kind) -> None:
    mine, other = ("French", "Finnish") if kind == "encoder_self" else ("Finnish", "French")
    titles = axis_titles(kind, Languages("French", "Finnish"))
    assert all(title.startswith(mine) and other not in title for title in titles)
    assert axis_titles(kind, Languages("", ""), alone=True) == (
        "The position that looks",
        "Where it looks",
    )


def test_every_kind_has_its_axes_in_words() -> None:
    assert len({axis_titles(kind, OURS) for kind in get_args(Kind)}) == len(get_args(Kind))
