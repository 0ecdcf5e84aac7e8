"""Colours of what is no kind of attention; none of them can be taken for one."""

from __future__ import annotations

CURVE_COLORS = (
    "#8A6BD1", "#B8860B", "#C2569A", "#6E8091",
    "#2E8B8B", "#A66A5C", "#7D8B1F", "#A57FB0",
)  # fmt: skip
"""One for each curve of a chart; a line in it stands out on light paper and on dark."""


def curve_colors(count: int) -> list[str]:
    """A colour for each of some curves; beyond eight they come again."""
    return [CURVE_COLORS[n % len(CURVE_COLORS)] for n in range(count)]


VIOLET, OCHRE, PINK, SLATE = CURVE_COLORS[:4]

OLIVE, PURPLE = "#888800", "#A64AC4"
"""Of what is below 0, and of what is above."""

PALE = "#F2F2F2"
"""Of 0 itself, in a scale between these two."""

GREY = "#80868E"
"""Of marks that stand back, on light paper and on dark; too faint for words."""

INK = "currentColor"
"""Of words: as those of the page around the chart, light or dark."""
