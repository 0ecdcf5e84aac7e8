"""The figures hold the encoding, its products and its rotation, number by number."""

import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.viz.plotly_values import map_values
from transformer.embedding import sinusoidal_positions
from transformer.paper.positions import exact_encoding, rotation, similarity, wavelengths
from viz.figures.positions import (
    MAX_CELLS,
    MAX_DIMENSIONS,
    axis_place,
    axis_title,
    encoding_map,
    rotation_figure,
    signed_map,
    similarity_curves,
    wave_curves,
    wavelength_chart,
)

LENGTH, WIDTH = 20, 8
TABLE = sinusoidal_positions(LENGTH, WIDTH).numpy()
WAVES = wavelengths(WIDTH)


def rows(chart: Any, layer: int) -> list[dict[str, Any]]:
    spec = chart.to_dict()
    return spec["datasets"][spec["layer"][layer]["data"]["name"]]


def test_the_map_is_the_encoding_with_positions_across() -> None:
    figure = encoding_map(TABLE, WAVES)
    np.testing.assert_array_equal(map_values(figure), TABLE.T)
    (heatmap,) = figure.data
    assert (heatmap.zmin, heatmap.zmax) == (-1, 1)
    assert figure.layout.xaxis.title.text == "position"
    assert figure.layout.yaxis.title.text == "dimension"
    assert figure.layout.yaxis.autorange == "reversed"
    assert re.findall(r"%{(\w)", heatmap.hovertemplate) == ["x", "y", "z"]
    assert heatmap.y[0] == "dimension 0: sin, i = 0, wavelength 6.28"
    assert heatmap.y[3] == "dimension 3: cos, i = 1, wavelength 62.83"
    assert len(set(heatmap.y)) == WIDTH  # two rows of one name would be drawn as one


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


def test_a_curve_has_a_dot_for_each_position_on_the_wave() -> None:
    at = np.arange(4 * (LENGTH - 1) + 1) / 4
    chart = wave_curves(TABLE, [0, 5], WAVES, at, exact_encoding(at, WIDTH))
    names = ["0: sin, 6.28 long", f"5: cos, {2 * math.pi * 10_000 ** (4 / 8):,.2f} long"]
    for number, name in zip((0, 5), names, strict=True):
        wave, angle = (math.sin, math.cos)[number % 2], 10_000 ** (-(number // 2) * 2 / WIDTH)
        for layer, places in ((0, at), (1, np.arange(LENGTH))):
            result = [row for row in rows(chart, layer) if row["dimension"] == name]
            assert [row["position"] for row in result] == list(places)
            expected = [wave(place * angle) for place in places]
            np.testing.assert_allclose([row["value"] for row in result], expected, atol=1e-6)
    spec = chart.to_dict()
    for layer in spec["layer"]:
        assert layer["encoding"]["color"]["scale"]["domain"] == names
        assert layer["encoding"]["x"]["scale"]["domain"] == [0, LENGTH - 1]


def test_every_dimension_has_its_wavelength_and_the_chosen_ones_are_marked() -> None:
    chart = wavelength_chart(WAVES, [5, 0])
    line, dots = rows(chart, 0), rows(chart, 1)
    for row in line:
        n = row["dimension"] // 2
        assert row["wavelength"] == pytest.approx(2 * math.pi * 10_000 ** (2 * n / WIDTH))
    assert [row["dimension"] for row in line] == list(range(WIDTH))
    assert [row["dimension"] for row in dots] == [5, 0]
    curves = wave_curves(TABLE, [5, 0], WAVES, np.zeros(1), np.zeros((1, WIDTH))).to_dict()
    colors = curves["layer"][0]["encoding"]["color"]["scale"]["range"]
    assert [row["ink"] for row in dots] == colors  # as the curves that they belong to
    scale = chart.to_dict()["layer"][0]["encoding"]["y"]["scale"]
    assert scale["type"] == "log"
    assert scale["domain"] == pytest.approx([2 * math.pi, 10_000 * 2 * math.pi])


def test_the_dots_are_products_of_two_positions_on_the_curve_of_the_formula() -> None:
    starts = [0, 5, 10, 19]
    products = TABLE.astype(np.float64) @ TABLE.T
    formula = similarity(np.arange(1 - LENGTH, LENGTH), WIDTH)
    chart = similarity_curves(products, starts, formula)
    curve = {row["distance"]: row["product"] for row in rows(chart, 0)}
    assert list(curve) == list(range(1 - LENGTH, LENGTH))
    for k, product in curve.items():
        expected = sum(math.cos(k * 10_000 ** (-2 * i / WIDTH)) for i in range(WIDTH // 2))
        assert product == pytest.approx(expected, abs=1e-9)
    dots = rows(chart, 1)
    assert {row["from"] for row in dots} == {f"p = {p}" for p in starts}
    for row in dots:
        p = int(row["from"].removeprefix("p = "))
        expected = TABLE[p].astype(np.float64) @ TABLE[p + row["distance"]]
        assert row["product"] == pytest.approx(expected, abs=1e-6)
    color = chart.to_dict()["layer"][1]["encoding"]["color"]
    assert color["legend"]["symbolType"] == "circle"  # a filled dot has no stroke to show
    places = [row["distance"] for row in dots]
    assert len(set(places)) == len(places)  # no dot lies under another


def test_the_rotation_stands_beside_what_it_makes_of_a_position() -> None:
    matrix = rotation(3, WIDTH)
    before, after = exact_encoding(np.array([4, 7]), WIDTH)
    figure = rotation_figure(matrix, np.stack([before, after]), list(range(WIDTH)))
    np.testing.assert_allclose(map_values(figure, 0), matrix, atol=1e-7)
    np.testing.assert_allclose(map_values(figure, 1)[:, 0], before, atol=1e-7)
    np.testing.assert_allclose(map_values(figure, 2)[:, 0], after, atol=1e-6)
    np.testing.assert_allclose(map_values(figure, 3)[:, 0], after, atol=1e-7)
    assert np.abs(before - after).max() > 0.5
    titles = [note.text.replace("<br>", " ") for note in figure.layout.annotations]
    assert titles == ["M<sub>k</sub>", "PE pos", "M<sub>k</sub>PE pos", "PE pos+k"]
    domains = [figure.layout[f"xaxis{n}"].domain for n in ("", 2, 3, 4)]
    assert domains[0][0] == pytest.approx(0)
    assert domains[3][1] == pytest.approx(1)
    assert all(left[1] < right[0] for left, right in pairwise(domains))
    for note, domain in zip(figure.layout.annotations, domains, strict=True):
        assert (note.xanchor, note.x) == ("center", pytest.approx(sum(domain) / 2))
    assert [heatmap.showscale for heatmap in figure.data] == [False, False, False, True]
    assert {heatmap.yaxis for heatmap in figure.data} == {"y"}  # one row is one dimension


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
