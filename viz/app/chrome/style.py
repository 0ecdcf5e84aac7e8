"""The style of the app: what Streamlit's theme cannot say."""

from __future__ import annotations

from pathlib import Path

import altair as alt

from viz.figures.colors import INK

STYLE_SHEETS = tuple(
    Path(__file__).with_name("style") / f"{name}.css"
    for name in ("page", "sentence_bar", "translate", "texts", "choices", "focus", "phone")
)
"""In their order: of two rules that weigh the same the later one counts."""


def style_sheet() -> str:
    """All of them as one, in the HTML that a browser loads first: see `first_page`."""
    return "\n".join(path.read_text("utf-8") for path in STYLE_SHEETS)


@alt.theme.register("headlight", enable=True)
def chart_theme() -> alt.theme.ThemeConfig:
    """Words of charts in the page's ink: Streamlit's grey has a contrast of 3.6 on its paper."""
    return {
        "config": {
            # as Streamlit sets it, the first and the last label leave what they name
            "axis": {"labelColor": INK, "titleColor": INK, "labelFlush": False},
            "legend": {"labelColor": INK, "titleColor": INK},
            "header": {"labelColor": INK, "titleColor": INK},
        }
    }
