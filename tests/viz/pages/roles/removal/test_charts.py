"""The charts of the view “Take away” draw what they were given."""

from __future__ import annotations

import numpy as np

from transformer.analysis.corpus.head_report import Curve, CurvePoint
from transformer.analysis.corpus.stored import Figure
from transformer.analysis.heads.head import Head
from viz.pages.roles.removal import AFTER, BEFORE, curve_chart, words_chart


def rows(chart) -> list[list[dict]]:
    spec = chart.to_dict()
    layers = [layer.get("data") or spec["data"] for layer in spec["layer"]]
    return [spec["datasets"][data["name"]] for data in layers]


def test_each_word_stands_before_and_after_with_a_rule_between() -> None:
    before, after = np.array([-1.0, -0.5]), np.array([-1.5, -0.25])
    rules, points = rows(words_chart(["Der", "<b>"], before, after))
    assert [(row["before"], row["after"]) for row in rules] == [(-1, -1.5), (-0.5, -0.25)]
    drawn = {(row["word"], row["model"]): (row["log_p"], row["change"]) for row in points}
    assert drawn == {
        ("Der", BEFORE): (-1, -0.5),
        ("Der", AFTER): (-1.5, -0.5),
        ("<b>", BEFORE): (-0.5, 0.25),
        ("<b>", AFTER): (-0.25, 0.25),
    }


def test_the_place_on_the_curve_is_marked_between_measured_points_too() -> None:
    points = (CurvePoint(0, Figure(30, 29, 31)), CurvePoint(2, Figure(20, 19, 21)))
    curve = Curve((Head("cross", 0, 0), Head("cross", 0, 1)), points)
    band, line, here = rows(curve_chart(curve, 1))
    assert band == line
    assert [tuple(row.values()) for row in line] == [(0, 30, 29, 31), (2, 20, 19, 21)]
    assert here == [{"removed": 1}]
    assert len(rows(curve_chart(curve, None))) == 2
