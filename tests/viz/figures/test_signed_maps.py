"""0 is the page itself, the two sides are no kind of attention, and values stay what they are."""

import re

import numpy as np

from viz.draw.palette import COLOR, oklab
from viz.figures.signed_maps import MAX_CELLS, SIGNED, axis_place, axis_title, signed_map


def test_nothing_is_the_page_itself_and_no_side_can_be_taken_for_a_kind() -> None:
    (_, less), (_, least), (_, first), (_, more) = SIGNED
    assert least == less.replace(", 1)", ", 0)")
    assert first == more.replace(", 1)", ", 0)")
    for color in (less, more):
        lab = oklab(np.array([int(n) for n in re.findall(r"\d+", color)[:3]]) / 255)
        for kind in COLOR.values():
            other = oklab(np.frombuffer(bytes.fromhex(kind[1:]), np.uint8) / 255)
            assert np.linalg.norm(lab - other) > 0.1


def test_a_map_of_more_cells_than_pixels_is_of_means_and_says_so() -> None:
    values = np.random.default_rng(0).normal(size=(2 * MAX_CELLS, MAX_CELLS + 1))
    heatmap = signed_map(values, 1, hover="%{y}", y=[f"row {n}" for n in range(2 * MAX_CELLS)])
    pairs = values.reshape(MAX_CELLS, 2, -1).mean(1)
    assert np.asarray(heatmap.z).shape == (MAX_CELLS, MAX_CELLS // 2 + 1)
    np.testing.assert_allclose(np.asarray(heatmap.z)[:, 0], pairs[:, :2].mean(1), atol=1e-6)
    np.testing.assert_allclose(np.asarray(heatmap.z)[:, -1], pairs[:, -1], atol=1e-6)  # one is left
    assert (heatmap.y[0], heatmap.y[-1]) == (
        "row 0 … row 1",
        f"row {2 * MAX_CELLS - 2} … row {2 * MAX_CELLS - 1}",
    )
    assert list(heatmap.x)[:2] == [0.5, 2.5]
    assert "mean of 2 × 2" in heatmap.hovertemplate
    assert not heatmap.zsmooth
    assert axis_title("dimension", 2 * MAX_CELLS) == "dimension, means of 2"
    assert axis_place(4, 2 * MAX_CELLS) == 2
    small = signed_map(np.ones((2, 3)), 1, hover="")
    assert np.asarray(small.z).shape == (2, 3)
    assert "mean" not in small.hovertemplate
    assert axis_title("dimension", MAX_CELLS) == "dimension"
