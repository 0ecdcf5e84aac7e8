"""Maps of many dimensions and rows have ticks of numbers and means of blocks."""

import numpy as np
import pytest

from transformer.paper.positions import wavelengths
from viz.figures.positions import (
    MAX_CELLS,
    MAX_DIMENSIONS,
    axis_place,
    axis_title,
    encoding_map,
    signed_map,
)


@pytest.mark.parametrize("width", [2, 512, 4096])
def test_the_ticks_of_the_dimensions_are_numbers_of_dimensions(width: int) -> None:
    axis = encoding_map(np.zeros((3, width)), wavelengths(width)).layout.yaxis
    cells = max(1, width // MAX_DIMENSIONS)  # one pair of so many is drawn
    assert [str(int(n * cells)) for n in axis.tickvals] == list(axis.ticktext)
    title = "dimension" if cells == 1 else f"dimension, 1 pair in {cells}"
    assert axis.title.text == title
    assert axis.tickvals[0] == 0
    assert 2 <= len(axis.tickvals) <= 9
    assert axis.tickvals[-1] < width / cells


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
