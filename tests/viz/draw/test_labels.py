import pytest

from transformer.text.languages import OURS, Languages
from viz.draw.formatting import format_number, listing
from viz.draw.labels import axis_titles, display_tokens, row_names


@pytest.mark.parametrize(
    ("tokens", "texts"),
    [
        # a piece that begins a word is plain, and one that goes on is marked
        (("▁tief", "en", "▁Schnee", ".", "</s>"), ["tief", "·en", "Schnee", ".", "end"]),
        (("Two", "dogs", "."), ["Two", "dogs", "."]),  # whole words
        (("▁", "▁a", ""), ["␣", "a", "␣"]),  # nothing stays without a label
        (("▁en", "en", "<s>"), ["en", "·en", "start"]),  # two tokens never become one
    ],
)
def test_tokens_as_the_screen_shows_them(tokens: tuple[str, ...], texts: list[str]) -> None:
    assert display_tokens(tokens) == texts


@pytest.mark.parametrize(
    ("languages", "row", "rows", "columns"),
    [
        (OURS, None, "German: next word predicted", "English: where it looks"),
        (Languages("French", "Finnish"), "reads", "Finnish: last word read", "French"),
        (Languages("", ""), "writes", "Target: next word predicted", "Source: where it looks"),
        (Languages("English", "", ("fra",)), None, "Target: next word predicted", "English"),
    ],
)
def test_the_axes_of_cross_attention_name_both_languages(languages, row, rows, columns) -> None:
    titles = axis_titles("cross", languages, row=row, alone=True)
    assert titles.rows == rows
    assert titles.columns.startswith(columns)


def test_a_row_names_what_is_read_before_what_is_written_with_a_piece_marked_alike() -> None:
    # nothing that is read begins a word
    names = row_names(("<s>", "en"), reads=("<s>", "en"), writes=("en", "▁Schnee"))
    assert [name.replace("\u2068", "").replace("\u2069", "") for name in names] == [
        "the step that reads “start” and predicts “·en”",
        "the step that reads “·en” and predicts “Schnee”",
    ]


def test_numbers_have_a_true_minus_and_lists_one_and() -> None:
    assert (format_number(-1.234), format_number(0.25, 1, sign=True)) == ("−1.23", "+0.2")
    # what rounds to nothing has no sign
    assert {format_number(n, 1, sign=sign) for n in (-0.04, 0.04) for sign in (False, True)} == {
        "0.0"
    }
    assert format_number(-0.0, 2) == "0.00"
    assert [listing("abc"[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and c"]
