"""The style of the app: what Streamlit's theme cannot say."""

from __future__ import annotations

from pathlib import Path

import altair as alt

from viz.figures.colors import INK

STYLE_SHEET = Path(__file__).with_name("style.css")
"""In the HTML that a browser loads first: see `first_page`."""


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
