"""0 is the page itself, the two sides are no kind of attention, and values stay what they are."""

import math
import re

import numpy as np

from viz.draw.palette import COLOR, oklab
from viz.figures.signed_maps import SIGNED, SMOOTH_FROM, signed_map


def test_nothing_is_the_page_itself_and_no_side_can_be_taken_for_a_kind() -> None:
    (_, less), (_, least), (_, first), (_, more) = SIGNED
    assert least == less.replace(", 1)", ", 0)")
    assert first == more.replace(", 1)", ", 0)")
    for color in (less, more):
        lab = oklab(np.array([int(n) for n in re.findall(r"\d+", color)[:3]]) / 255)
        for kind in COLOR.values():
            other = oklab(np.frombuffer(bytes.fromhex(kind[1:]), np.uint8) / 255)
            assert np.linalg.norm(lab - other) > 0.1


def test_a_large_map_is_painted_by_pixels_and_keeps_its_values() -> None:
    side = math.isqrt(SMOOTH_FROM) + 1
    assert signed_map(np.zeros((side, side)), 1, hover="").zsmooth == "fast"
    assert signed_map(np.zeros((2, 3)), 1, hover="").zsmooth is False
