"""Ticks and legends read the same on every chart."""

from typing import Any

from viz.figures.axes import label, legend_below, step_axis


def test_a_tick_at_zero_has_no_prefix() -> None:
    assert label("~s") == "datum.value == 0 ? '0' : format(datum.value, '~s')"
    spec: Any = step_axis(values=[1, 10]).to_dict()
    assert spec["axis"]["labelExpr"] == label("~s")
    assert spec["axis"]["values"] == [1, 10]


def test_a_legend_shows_strokes_and_takes_what_differs() -> None:
    legend: Any = legend_below(columns=3).to_dict()
    assert (legend["orient"], legend["columns"], legend["symbolType"]) == ("bottom", 3, "stroke")
    assert legend["title"] is None
