"""The cosines of a learned table, drawn as they are."""

from __future__ import annotations

import numpy as np

from tests.viz.plotly_values import map_values
from viz.pages.positions.learned import cosine_maps, neighbours_chart

MAPS = {
    "sinusoidal": np.array([[1, 0.5], [0.5, 1]]),
    "learned": np.array([[1, -0.25], [-0.25, 1]]),
}


def test_both_tables_are_drawn_on_one_scale_under_their_names() -> None:
    figure = cosine_maps(MAPS)
    for number, (name, cosines) in enumerate(MAPS.items()):
        np.testing.assert_array_equal(map_values(figure, number), cosines)
        assert figure.layout.annotations[number].text == name
        assert (figure.data[number].zmin, figure.data[number].zmax) == (-1, 1)


def test_neighbours_stand_beside_what_chance_gives() -> None:
    lines = {"sinusoidal": np.array([0.9, 0.8]), "learned": np.array([0.7, 0.1])}
    chart = neighbours_chart(lines, 0.1).to_dict()
    band, curves = chart["layer"]
    assert chart["datasets"][band["data"]["name"]] == [{"low": -0.2, "high": 0.2}]
    assert (band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]) == ("low", "high")
    drawn_rows = chart["datasets"][curves["data"]["name"]]
    for name, values in lines.items():
        found = [row for row in drawn_rows if row["table"] == name]
        assert [row["cosine"] for row in found] == list(values)
        assert [row["position"] for row in found] == [0, 1]
