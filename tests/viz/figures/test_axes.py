"""Ticks and legends read the same on every chart."""

from typing import Any

import altair as alt
import pytest

from viz.figures.axes import log_labels, log_ticks, step_axis, tick_label


def test_a_tick_at_zero_has_no_prefix() -> None:
    assert tick_label("~s") == "datum.value == 0 ? '0' : format(datum.value, '~s')"
    spec: Any = step_axis(values=[1, 10]).to_dict()
    assert spec["axis"]["labelExpr"] == tick_label("~s")
    assert spec["axis"]["values"] == [1, 10]
    # a short logarithmic axis numbers each tick
    assert log_labels([5, 10, 20, 50], "~g") == tick_label("~g")
    assert log_labels([1, 2, 5, 10, 20, 50, 100], "~g") != tick_label("~g")


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([4.1, 66.0, 12.0], [5, 10, 20, 50]),
        ([0.5, 5.0], [0.5, 1, 2, 5]),
        ([3.0, 12.0], [5, 10]),
        ([], []),
        ([0.0, -3.0, float("inf"), float("nan"), 1.0, 6.0], [1, 2, 5]),
    ],
)
def test_a_logarithmic_axis_has_1_2_and_5_of_each_decade_where_there_are_three(
    values: list[float], ticks: list[float]
) -> None:
    result = log_ticks(values)
    if len(ticks) < 3:
        assert result is alt.Undefined
    else:
        assert result == pytest.approx(ticks)
