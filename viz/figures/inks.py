"""Colours of what is no kind of attention; none of them can be taken for one."""

from __future__ import annotations

CURVES = (
    "#6F4FB8", "#B8860B", "#C2569A", "#5F6B73",
    "#2E8B8B", "#8C564B", "#A8B0BA", "#C9A0DC",
)  # fmt: skip
"""One for each curve of a chart."""

VIOLET, OCHRE, PINK, SLATE = CURVES[:4]

GREY = "#80868E"
"""Of marks and words that stand back; read on light paper and on dark."""
