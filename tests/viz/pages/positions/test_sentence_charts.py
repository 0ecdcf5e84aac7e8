"""What the first layer reads and what edits change, drawn under the right words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.viz.plotly_values import map_values
from transformer.text.languages import OURS, Languages
from viz.pages.positions.sentence_charts import input_figure, moved_chart, pieces_chart

TOKENS = ["▁The", "▁<b>dog", "s", "</s>"]
RANDOM = np.random.default_rng(1)


def data(chart: Any, field: str) -> list[dict[str, Any]]:
    (found,) = (rows for rows in chart.to_dict()["datasets"].values() if field in rows[0])
    return found


def test_three_maps_have_one_scale_and_the_tokens_beside_their_rows() -> None:
    parts = {
        name: RANDOM.normal(size=(4, 6)).astype(np.float32) for name in ("token", "place", "sum")
    }
    figure = input_figure(TOKENS, parts, 2.0)
    for number, (title, values) in enumerate(parts.items()):
        np.testing.assert_array_equal(map_values(figure, number), values)
        one = figure.data[number]
        assert (one.zmin, one.zmax) == (-2, 2)
        assert figure.layout.annotations[number].text == title
        # what was typed is no tag, neither on the axis nor in a hover
        assert list(one.y) == ["0: The", "1: &lt;b&gt;dog", "2: ·s", "3: &lt;/s&gt;"]
    axis = figure.layout.yaxis
    assert list(axis.tickvals) == [0, 1, 2, 3]
    assert list(axis.ticktext) == ["The", "&lt;b&gt;dog", "·s", "&lt;/s&gt;"]
    assert axis.autorange == "reversed"


def test_a_long_sentence_keeps_its_rows_and_has_fewer_labels() -> None:
    tokens = [f"▁w{n}" for n in range(500)]
    figure = input_figure(tokens, {"sum": np.zeros((500, 2))}, 1.0)
    axis = figure.layout.yaxis
    assert figure.layout.height <= 900
    assert len(axis.tickvals) * 12 <= 900
    # two rows share a cell
    assert [f"w{2 * n:g}" for n in axis.tickvals] == list(axis.ticktext)
    assert figure.data[0].y[249] == "498: w498 … 499: w499"


def test_the_curves_of_a_moved_sentence_are_their_numbers() -> None:
    steps = [0, 1, 2, 4]
    curves = {"both": np.array([-1.0, -2, -3, -4]), "one": np.array([-1.0, -1.5, -1, -9])}
    chart = moved_chart(steps, curves, at=2)
    points = data(chart, "log_p")
    for name, values in curves.items():
        found = [(row["k"], row["log_p"]) for row in points if row["moved"] == name]
        assert found == list(zip(steps, values, strict=True))
    rule, lines = chart.to_dict()["layer"]
    assert chart.to_dict()["datasets"][rule["data"]["name"]] == [{"k": 2}]
    assert lines["encoding"]["x"]["scale"]["type"] == "symlog"  # 0 has a place beside 16,384
    assert lines["encoding"]["color"]["scale"]["domain"] == ["both", "one"]


def test_each_piece_has_its_log_probability_under_each_edit() -> None:
    curves = {"as they are": np.array([-0.5, -1, 0, -2]), "removed": np.array([-3.0, -1, -4, -2])}
    chart = pieces_chart(TOKENS, curves, Languages("French", "Finnish"))
    shown = ["The", "<b>dog", "·s", "</s>"]  # Vega draws text on its canvas, and no tags
    for name, values in curves.items():
        found = [row for row in data(chart, "log_p") if row["positions"] == name]
        assert [row["log_p"] for row in found] == pytest.approx(list(values))
        assert [row["piece"] for row in found] == shown
        assert [row["place"] for row in found] == [0, 1, 2, 3]
    spec = chart.to_dict()
    assert spec["encoding"]["x"]["axis"]["labelExpr"].startswith('["The", "<b>dog"')
    colors = spec["encoding"]["color"]["scale"]["range"]
    assert len(set(colors)) == len(curves)
    assert spec["encoding"]["x"]["title"] == "Finnish: the piece being written"


def test_few_pieces_have_all_their_labels() -> None:
    for count, overlap in ((4, False), (41, True)):
        chart = pieces_chart(["▁a"] * count, {"as they are": np.zeros(count)}, OURS).to_dict()
        assert chart["encoding"]["x"]["axis"]["labelOverlap"] is overlap
