"""Colours of charts, which differ from those of the kinds of attention."""

CURVE_COLORS = (
    "#8A6BD1", "#B8860B", "#C2569A", "#6E8091",
    "#2E8B8B", "#A66A5C", "#7D8B1F", "#A57FB0",
)  # fmt: skip
"""Colours of curves, visible on a light and on a dark page."""


def curve_colors(count: int) -> list[str]:
    """Return a colour for each of `count` curves; beyond eight they repeat."""
    return [CURVE_COLORS[n % len(CURVE_COLORS)] for n in range(count)]


VIOLET, OCHRE, PINK, SLATE = CURVE_COLORS[:4]

OLIVE, PURPLE = "#888800", "#A64AC4"
"""Colours of values below 0 and above."""

PALE = "#F2F2F2"
"""Colour of 0 between these two."""

GREY = "#80868E"
"""Colour of secondary marks, on a light and on a dark page; too faint for text."""

INK = "currentColor"
"""Colour of text: that of the page around the chart, light or dark."""
