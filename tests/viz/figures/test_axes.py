"""Ticks read the same on every chart, and its colours are visible on both pages."""

import tomllib
from pathlib import Path
from typing import Any

import altair as alt
import pytest

from viz.draw.palette import COLOR
from viz.figures.axes import CURVE_COLORS, GREY, log_labels, log_ticks, step_axis, tick_label


def test_a_tick_at_zero_has_no_prefix() -> None:
    assert tick_label("~s") == "datum.value == 0 ? '0' : format(datum.value, '~s')"
    spec: Any = step_axis(values=[1, 10]).to_dict()
    assert spec["axis"]["labelExpr"] == tick_label("~s")
    assert spec["axis"]["values"] == [1, 10]
    # a short logarithmic axis numbers each tick
    assert log_labels([5, 10, 20, 50]) == tick_label("~s")
    assert log_labels([1, 2, 5, 10, 20, 50, 100]) != tick_label("~s")


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


THEME = tomllib.loads(Path(".streamlit/config.toml").read_text())["theme"]


def _luminance(color: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, other: str) -> float:
    light, dark = sorted((_luminance(first), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ink", [*CURVE_COLORS, GREY])
def test_a_curve_stands_out_on_the_paper_of_each_theme(ink: str, theme: str) -> None:
    # WCAG 2.2, 1.4.11: three to one for what a picture is read by
    assert _contrast(ink, THEME[theme]["backgroundColor"]) >= 3
    assert ink not in COLOR.values()
    assert [*CURVE_COLORS, GREY].count(ink) == 1
