"""The charts of the page on one head draw the numbers that they were given."""

from __future__ import annotations

import numpy as np
import pytest

from transformer.analysis.paper.scaling import gaussian_dot_variance, saturation
from viz.pages.inside import MEASURES, VARIANCES, factors, saturation_chart, variance_chart


def test_the_axis_holds_each_scale_that_the_page_marks() -> None:
    at = factors()
    assert at[0] == pytest.approx(0.01)
    assert at[-1] == pytest.approx(100)
    np.testing.assert_allclose(np.diff(np.log(at)), np.log(at[1] / at[0]))


def test_each_measure_is_drawn_over_the_scale() -> None:
    at = np.array([0.1, 1.0, 10.0])
    row = saturation(np.array([0.5, 2.0, -1.0]), at)
    chart = saturation_chart(at, row, {"none": 1.0, "÷ √dₖ": 0.177}).to_dict()
    lines, marks = chart["datasets"].values()
    for name, values in zip(MEASURES, row, strict=True):
        drawn = [(r["scale"], r["value"]) for r in lines if r["measure"] == name]
        assert drawn == list(zip(at.tolist(), values.tolist(), strict=True))
    assert marks == [{"name": "none", "scale": 1.0}, {"name": "÷ √dₖ", "scale": 0.177}]
    (y,) = {layer["encoding"]["y"].get("field") for layer in chart["layer"][:1]}
    assert y == "value"
    assert [layer["mark"]["type"] for layer in chart["layer"]] == ["line", "rule", "text"]


def test_each_variance_is_drawn_over_the_width() -> None:
    width, wide = np.array([1, 2, 3]), np.array([1, 4, 16])
    measured, predicted = np.array([0.0, 2.5, 4.0]), np.array([1.0, 2.0, 3.0])
    gaussian = gaussian_dot_variance(wide)
    chart = variance_chart(width, measured, predicted, wide, gaussian).to_dict()
    (rows,) = chart["datasets"].values()
    drawn = {
        name: [(row["width"], row["variance"]) for row in rows if row["curve"] == name]
        for name in VARIANCES
    }
    pairs = lambda x, y: list(zip(x.tolist(), y.tolist(), strict=True))  # noqa: E731
    assert drawn[VARIANCES[0]] == pairs(wide, wide)
    assert drawn[VARIANCES[1]] == pairs(wide, gaussian)
    assert drawn[VARIANCES[3]] == pairs(width, predicted)
    assert drawn[VARIANCES[2]] == pairs(width, measured)[1:]  # a logarithm of 0 has no place
    lines, dots = chart["layer"]
    assert (lines["mark"]["type"], dots["mark"]["type"]) == ("line", "point")
    assert lines["transform"][0]["filter"] == f"!({dots['transform'][0]['filter']})"
    assert VARIANCES[1] in dots["transform"][0]["filter"]
