"""Pressed squares of a map paint rows of its head."""

from __future__ import annotations

from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal_text import parse_removals
from viz.pages.roles.removal_controls import painted_squares

ENCODER, DECODER = Head("encoder_self", 0, 0), Head("decoder_self", 1, 2)


def test_pressed_squares_do_what_the_first_of_them_does() -> None:
    text = ""
    for keys, painted in (
        ([2], "e0.0p3x3_1-2"),
        ([0, 1, 2], "e0.0p3x3_1-0.1.2"),
        ([2, 1], "e0.0p3x3_1-0"),
        ([0], ""),
    ):
        removals, _ = parse_removals(text, None)
        text = painted_squares(removals, ENCODER, (3, 3), [(1, key) for key in keys])
        assert text == painted
    assert painted_squares([], DECODER, (3, 3), [(1, 2)]) == ""  # its mask hides it
    assert painted_squares([], DECODER, (3, 3), [(1, 0), (1, 1), (1, 2)]) == "d1.2p3x3_1-0.1"
