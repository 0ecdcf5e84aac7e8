"""The style sheet of the app: what Streamlit's theme cannot say."""

from __future__ import annotations

from pathlib import Path

STYLE_SHEET = Path(__file__).with_name("style.css")
"""Given to `st.html`, which puts a file of CSS into the page as it is."""
