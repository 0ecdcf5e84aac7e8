"""The colours are visible on both pages, and differ from those of the kinds of attention."""

import tomllib
from pathlib import Path

import pytest

from viz.draw.palette import COLOR
from viz.figures.axes import CURVE_COLORS, GREY

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
