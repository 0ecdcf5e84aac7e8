"""Numbers are written with a true minus sign."""

from viz.draw.formatting import format_number


def test_a_minus_is_as_wide_as_a_plus() -> None:
    assert format_number(-1.234) == "−1.23"
    assert format_number(0.25, 1, sign=True) == "+0.2"


def test_what_rounds_to_nothing_has_no_sign() -> None:
    assert format_number(-0.04, 1) == "0.0"
    assert format_number(-0.04, 1, sign=True) == format_number(0.04, 1, sign=True) == "0.0"
    assert format_number(-0.0, 2) == "0.00"
