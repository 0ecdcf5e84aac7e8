"""Colours of what is no kind of attention; none of them can be taken for one."""

from __future__ import annotations

CURVES = (
    "#8A6BD1", "#B8860B", "#C2569A", "#6E8091",
    "#2E8B8B", "#A66A5C", "#7D8B1F", "#A57FB0",
)  # fmt: skip
"""One for each curve of a chart; a line in it stands out on light paper and on dark."""

VIOLET, OCHRE, PINK, SLATE = CURVES[:4]

GREY = "#80868E"
"""Of marks and words that stand back; read on light paper and on dark."""
