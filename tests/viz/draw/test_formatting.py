"""Numbers are written with a true minus sign, and names in a list with one “and”."""

from viz.draw.formatting import format_number, listing


def test_a_minus_is_as_wide_as_a_plus() -> None:
    assert format_number(-1.234) == "−1.23"
    assert format_number(0.25, 1, sign=True) == "+0.2"


def test_what_rounds_to_nothing_has_no_sign() -> None:
    assert format_number(-0.04, 1) == "0.0"
    assert format_number(-0.04, 1, sign=True) == format_number(0.04, 1, sign=True) == "0.0"
    assert format_number(-0.0, 2) == "0.00"


def test_names_in_a_list_have_one_and() -> None:
    assert [listing("abc"[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and c"]
